// Package faults has only tests: do two nodes on one database behave as one thing that does one operation at a time,
// while processes are killed, connections are cut and the disk is full? `make faults` asks for ten minutes.
//
// Stories (stories_test.go) make objects (requests, conversations with a budget, grants) and have three clients work on
// each at once, from any node, over HTTP: they ask and repeat, vote for two people, edit, undo, cancel, let deadlines
// pass, spend, change budgets, use and revoke grants. Meanwhile one fault follows the other (faults_test.go): kill -9
// of a node or of PostgreSQL, its immediate shutdown, connections cut before and after a COMMIT, 500 ms to the
// database, a node whose clock is 30 s off, a full disk. A seed, which is printed, chooses operations and faults; which
// of them meet, it does not.
//
// # The model
//
// model_test.go says what an object may do, without any database: a request leaves pending once, no ask is charged
// twice, a grant allows so many calls. For each object the checker (porcupine) looks for an order of all operations in
// which the model gives every answer that a client got, and in which no operation comes before it was sent or after it
// was answered. If there is none, the history is a violation. Two things happen without an operation: a deadline
// passes, and an undo window ends. Their times are in the answers, of the database's clock, which is this machine's: the
// checker refuses an outcome that is early, and a vote that is late. A reader may show a request as pending a moment
// after its deadline, for its clock is that of its node's last commit. Nothing else depends on how fast anything is.
//
// # Unknown outcomes
//
// No answer, a lost connection or a status of 500 and above says nothing: the operation may have been done, may be done
// at any later time, or never. It stays open to the end of the history, and the model goes on with each possibility.
// Where no connection was made, nothing was sent, and nothing is noted.
//
// At the end each object is read on both nodes, so that a lost change is found too (I2), the ledger is held against all
// rows as `countersign audit verify --rows` does (I7), and no request may have two outcomes in it (I1).
//
// # The disk
//
// testdata/full.c is loaded into PostgreSQL (LD_PRELOAD): while a file exists, no write makes any file longer, and says
// ENOSPC, as on a full disk. So tables and the log of PostgreSQL fail as they would there, without a file system of our
// own, for which one would have to be root.
//
// # Reading a violation
//
// The test prints the history in the order of its calls, with the time of each call and answer, and names an HTML file.
// That shows the longest order that was found: the operations in it, the state of the model after each, and the one that
// fits nowhere. Find the first answer that contradicts an earlier one; then repeat the run with its seed.
//
// checker_test.go shows that the checker finds faults: the same stories are run on models, each with one that is planted.
package faults
