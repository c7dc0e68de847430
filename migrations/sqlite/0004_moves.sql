-- +goose Up
-- That the installation was moved to another database, or that a move to here has not ended: one row, and no program
-- opens the database as long as it is there. countersign move writes it, and takes it away.
CREATE TABLE moves (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  gone  BOOLEAN NOT NULL, -- TRUE: moved from here; FALSE: on the way to here
  place TEXT NOT NULL, -- where to, or where from: a folder, or a database and its host
  head  TEXT NOT NULL, -- of the ledger that is moved, as audit verify prints it
  at    DATETIME NOT NULL
);
-- A program that does not know this table would start what was moved.
UPDATE schema_use SET writable_by = 4;
