-- +goose Up
-- The entries of the ledger by owner, actor, conversation and action, in one table instead
-- of four indexes. It is filled in batches behind the head, in order: an entry then costs a
-- part of a page, where its four keys cost a page each. What is newer than
-- ledger_head.indexed is found in the ledger itself.
CREATE TABLE ledger_keys (
  kind INTEGER NOT NULL, -- 1 owner, 2 actor, 3 conversation, 4 action
  key  TEXT NOT NULL,
  seq  INTEGER NOT NULL,
  PRIMARY KEY (kind, key, seq)
) WITHOUT ROWID;

INSERT INTO ledger_keys (kind, key, seq) SELECT 1, owner_id, seq FROM ledger WHERE owner_id <> '' ORDER BY owner_id, seq;
INSERT INTO ledger_keys (kind, key, seq) SELECT 2, actor_id, seq FROM ledger WHERE actor_id <> '' ORDER BY actor_id, seq;
INSERT INTO ledger_keys (kind, key, seq) SELECT 3, conversation_id, seq FROM ledger WHERE conversation_id <> '' ORDER BY conversation_id, seq;
INSERT INTO ledger_keys (kind, key, seq) SELECT 4, action, seq FROM ledger ORDER BY action, seq;
DROP INDEX ledger_owner;
DROP INDEX ledger_actor;
DROP INDEX ledger_conversation;
DROP INDEX ledger_action;

-- How far ledger_keys goes.
ALTER TABLE ledger_head ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
UPDATE ledger_head SET indexed = seq;
