-- +goose Up

-- One-time links with which people join: the hash of the secret, while it is good.
CREATE TABLE invites (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  email        TEXT NOT NULL COLLATE NOCASE,
  role         TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  invited_by   TEXT REFERENCES users (id),
  inviter_name TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  used_at      DATETIME,
  withdrawn_at DATETIME
) WITHOUT ROWID;
CREATE INDEX invites_open ON invites (id) WHERE used_at IS NULL AND withdrawn_at IS NULL;

-- The audit by action.
CREATE INDEX ledger_action ON ledger (action, seq);

-- People who may no longer decide, for the requests that only admins can.
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;
