-- +goose Up

-- Who may read an entry of the ledger beside its owner, the owner's agents and the
-- admins: whoever the request was routed to. A stream goes on in it by (reader,
-- number); what its reader may see is judged at each reading. The store writes it
-- beside the entry: a trigger would cost every entry a journal of its own.
CREATE TABLE ledger_readers (
  reader_id TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (reader_id, seq)
) WITHOUT ROWID;

INSERT INTO ledger_readers (reader_id, seq)
SELECT v.user_id, l.seq FROM ledger l JOIN reviewers v ON v.response_id = l.response_id;

-- That the ledger has no gaps is seen by verifying it, which it has to stand
-- anyway; the trigger cost every entry the same.
DROP TRIGGER ledger_in_order;
