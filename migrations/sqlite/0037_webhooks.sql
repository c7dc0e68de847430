-- +goose Up
-- Endpoints that get the ledger's events. What is to be sent is nowhere but in the ledger: an
-- endpoint remembers how far it has got. One that was removed keeps its row, without the target.
CREATE TABLE webhooks (
  id               TEXT PRIMARY KEY,
  name             TEXT NOT NULL,
  label            TEXT NOT NULL, -- scheme and host
  owner_id         TEXT NOT NULL, -- empty: the command line
  types            TEXT NOT NULL, -- JSON; []: all
  inputs           BOOLEAN NOT NULL,
  cursor           INTEGER NOT NULL, -- what it gets up to there was accepted, was skipped, or is of a blocked stream
  created_at       DATETIME NOT NULL,
  paused_at        DATETIME,
  paused_why       TEXT NOT NULL DEFAULT '' CHECK (paused_why IN ('', 'by_person', 'failing', 'gone')),
  paused_by        TEXT NOT NULL DEFAULT '',
  paused_class     TEXT NOT NULL DEFAULT '', -- of the last attempt before the pause
  old_key_until    DATETIME,
  last_accepted_at DATETIME,
  removed_at       DATETIME,
  target_sealed    BLOB,
  position         INTEGER NOT NULL DEFAULT 0, -- counts what moved the cursor and the blocks beside the worker
  answers          INTEGER NOT NULL DEFAULT 0, -- how many there were
  CHECK ((paused_at IS NULL) = (paused_why = '')),
  CHECK (removed_at IS NULL OR target_sealed IS NULL)
) WITHOUT ROWID;
CREATE UNIQUE INDEX webhooks_in_use ON webhooks (name) WHERE removed_at IS NULL;

-- Streams of events of which one was refused: the cursor goes past the rest of it.
CREATE TABLE webhook_blocks (
  webhook_id      TEXT NOT NULL REFERENCES webhooks (id),
  stream          TEXT NOT NULL, -- a conversation, else a request; empty: neither
  conversation_id TEXT NOT NULL,
  response_id     TEXT NOT NULL, -- of the event
  next_seq        INTEGER NOT NULL, -- of the event
  type            TEXT NOT NULL,
  since           DATETIME NOT NULL, -- of its first attempt
  due_at          DATETIME NOT NULL,
  attempts        INTEGER NOT NULL,
  class           TEXT NOT NULL,
  status          INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, stream)
) WITHOUT ROWID;

-- Dead letters: refused events that an admin gave up.
CREATE TABLE webhook_skipped (
  id         TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  seq        INTEGER NOT NULL,
  type       TEXT NOT NULL,
  at         DATETIME NOT NULL,
  by_id      TEXT NOT NULL, -- empty: the command line
  by_name    TEXT NOT NULL,
  reason     TEXT NOT NULL,
  class      TEXT NOT NULL,
  status     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhook_skipped_webhook ON webhook_skipped (webhook_id, id);

-- The last answers of each endpoint.
CREATE TABLE webhook_answers (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  slot       INTEGER NOT NULL, -- number of the answer, modulo how many are kept
  number     INTEGER NOT NULL,
  at         DATETIME NOT NULL,
  seq        INTEGER NOT NULL, -- 0: of a test
  type       TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  ms         INTEGER NOT NULL,
  class      TEXT NOT NULL,
  status     INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (webhook_id, slot)
) WITHOUT ROWID;
