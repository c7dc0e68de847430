-- +goose Up
-- The servers of the installation: those that run, and those that ended a day ago at most without saying so.
CREATE TABLE nodes (
  id         TEXT PRIMARY KEY, -- it holds leases by this name
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  started_at DATETIME NOT NULL,
  seen_at    DATETIME NOT NULL, -- its last commit of this row: it can write
  lag_ms     INTEGER NOT NULL   -- how late it heard of the last change of another
) WITHOUT ROWID;

-- How much each client has done of what it may do in a length of time: at full_at it may do all of it again.
CREATE TABLE rates (
  kind    TEXT NOT NULL, -- asks, reports, runs, messages, tests
  client  TEXT NOT NULL, -- a token, or a person
  full_at INTEGER NOT NULL, -- microseconds since 1970
  PRIMARY KEY (kind, client)
) WITHOUT ROWID;

-- Who tries to sign in at an account, and when each drew lots for it last: see models/people/signin_lots.go.
CREATE TABLE signin_lots (
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  came_at DATETIME NOT NULL,
  drew_at DATETIME,
  PRIMARY KEY (account, address)
) WITHOUT ROWID;
CREATE INDEX signin_lots_came ON signin_lots (came_at);

-- How agents wait for requests at each server, so that the others know. A row counts as long as its server is seen.
CREATE TABLE presences (
  response_id TEXT NOT NULL,
  node_id     TEXT NOT NULL,
  waits       INTEGER NOT NULL, -- that go on
  ways        TEXT NOT NULL,    -- by which they go on, or ended a moment ago: JSON
  until       DATETIME,         -- the agent counts as waiting till then
  left_at     DATETIME,         -- when the last wait ended
  PRIMARY KEY (response_id, node_id)
) WITHOUT ROWID;
CREATE INDEX presences_node ON presences (node_id);

-- The key files that all servers must have, by their digests.
CREATE TABLE key_checks (
  file   TEXT PRIMARY KEY,
  digest BLOB NOT NULL CHECK (length(digest) = 32)
) WITHOUT ROWID;

-- Which programs may use the schema: those that know schema writable_by or a later one. program is the version that
-- brought the schema.
CREATE TABLE schema_use (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  writable_by INTEGER NOT NULL,
  program     TEXT NOT NULL DEFAULT ''
);
INSERT INTO schema_use (id, writable_by) VALUES (1, 3);
