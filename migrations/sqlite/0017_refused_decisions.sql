-- +goose Up
-- An upstream that refuses its key is left alone until it gets another one or somebody resumes it.
ALTER TABLE upstreams ADD COLUMN paused_at DATETIME;

-- Decisions that were taken back although their time to be undone was over: the upstream refused them, or an admin
-- withdrew them. status is what the upstream answered, said its own words or the admin's reason.
CREATE TABLE withdrawals (
  vote_id     TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  at          DATETIME NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('refused', 'withdrawn')),
  by_name     TEXT NOT NULL,
  status      INTEGER NOT NULL DEFAULT 0,
  said        TEXT NOT NULL DEFAULT '',
  lost        BOOLEAN NOT NULL DEFAULT FALSE -- an earlier attempt to tell it may have arrived
) WITHOUT ROWID;
CREATE INDEX withdrawals_response ON withdrawals (response_id, at);
