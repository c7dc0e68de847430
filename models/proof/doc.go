// Package proof says of each column of the database what proves it, and finds rows that
// are not as the ledger recorded them.
//
// The declaration (tables.go) names the unproved columns, and why. All others are proved, also one that a
// migration adds without further thought: an act that changes it and does not name the row in
// its entry makes the check fail.
//
// # What an entry holds
//
// The data of each entry has a member "proof": of each row that the act changed, its digest as it
// was after the act, by table and key:
//
//	"proof": {"responses/0198…": "Vb3…", "votes/0198…": "k0H…"}
//
// The values of a key of several columns have a space between them. An empty digest says that the
// row was removed. The entry of a removal of contents (contents.removed) has the digests of the
// rows with the marks in them, so a removed text needs nothing more.
//
// # The digest of a row
//
// Another program computes it so: take the proved columns of the row in the order of their names.
// Leave out each that is NULL, or has the value that the schema gives it by default: so a column
// that comes later does not change the digest of a row that is older. Write of each that is left
// its name, a zero byte, the length of its value in bytes as eight bytes, the highest first, and
// the value: text and bytes as they are, numbers in decimal digits, TRUE and FALSE as 1 and 0, a
// time as 2006-01-02 15:04:05.999999+00:00, without zeros at the end of its fraction. The digest is the
// SHA-256 over all of it, in base64 with the letters of URLs and without padding. A request has a
// column more, reviewers: the ids of the people to whom it was routed, sorted, with spaces between.
//
// # The check
//
// Check walks the ledger once and remembers of each row that an entry names its newest digest; then
// it reads all rows. A row must have the digest of the newest entry that names it. One that no entry
// names, and one that is gone although no entry says so, are faults. A database that an older program
// began has entries without digests: all its rows were listed, as they were found, when a program
// with digests first opened it to write (ledger.rows_sealed). The report counts the rows of which
// nothing newer is known.
package proof
