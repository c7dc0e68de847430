-- +goose Up
-- The key under which event streams name how far a reader has come: the numbers of the ledger would tell how much
-- happens that the reader may not see.
CREATE TABLE position_key (
  id  INTEGER PRIMARY KEY CHECK (id = 1),
  key BLOB NOT NULL CHECK (length(key) = 16)
);
INSERT INTO position_key (id, key) VALUES (1, randomblob(16));
