-- +goose Up
-- What comparing all rows with the ledger found last, and when: one row, so that
-- a restart does not begin the week again. Bookkeeping.
CREATE TABLE row_checks (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  last_begun_at    DATETIME,
  last_ended_at    DATETIME,
  last_rows        INTEGER NOT NULL DEFAULT 0,
  last_found       INTEGER NOT NULL DEFAULT 0,
  last_not_covered INTEGER NOT NULL DEFAULT 0,
  last_problem     TEXT NOT NULL DEFAULT '' -- why it could not be made, or the first that was found
);
INSERT INTO row_checks (id) VALUES (1);
