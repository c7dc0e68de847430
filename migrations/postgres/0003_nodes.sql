-- +goose Up
-- The servers of the installation: those that run, and those that ended a day ago at most without saying so.
CREATE TABLE nodes (
  id         text PRIMARY KEY, -- it holds leases by this name
  name       text NOT NULL,
  version    text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL, -- its last commit of this row: it can write
  lag_ms     bigint NOT NULL   -- how late it heard of the last change of another
);

-- How much each client has done of what it may do in a length of time: at full_at it may do all of it again.
CREATE TABLE rates (
  kind    text NOT NULL, -- asks, reports, runs, messages, tests
  client  text NOT NULL, -- a token, or a person
  full_at bigint NOT NULL, -- microseconds since 1970
  PRIMARY KEY (kind, client)
);

-- Who tries to sign in at an account, and when each drew lots for it last: see models/people/signin_lots.go.
CREATE TABLE signin_lots (
  account text NOT NULL,
  address text NOT NULL,
  came_at timestamptz NOT NULL,
  drew_at timestamptz,
  PRIMARY KEY (account, address)
);
CREATE INDEX signin_lots_came ON signin_lots (came_at);

-- How agents wait for requests at each server, so that the others know. A row counts as long as its server is seen.
CREATE TABLE presences (
  response_id text NOT NULL,
  node_id     text NOT NULL,
  waits       bigint NOT NULL, -- that go on
  ways        text NOT NULL,    -- by which they go on, or ended a moment ago: JSON
  until       timestamptz,         -- the agent counts as waiting till then
  left_at     timestamptz,         -- when the last wait ended
  PRIMARY KEY (response_id, node_id)
);
CREATE INDEX presences_node ON presences (node_id);

-- The key files that all servers must have, by their digests.
CREATE TABLE key_checks (
  file   text PRIMARY KEY,
  digest bytea NOT NULL CHECK (length(digest) = 32)
);

-- Which programs may use the schema: those that know schema writable_by or a later one. program is the version that
-- brought the schema.
CREATE TABLE schema_use (
  id          bigint PRIMARY KEY CHECK (id = 1),
  writable_by bigint NOT NULL,
  program     text NOT NULL DEFAULT ''
);
INSERT INTO schema_use (id, writable_by) VALUES (1, 3);
