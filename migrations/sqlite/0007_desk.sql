-- +goose Up
-- Columns that name a response have no foreign key: every ask would search these
-- tables for rows that waited for it.

-- What is said about a request without deciding it: what a reviewer asks back, what
-- its agent or owner says to that. asks: somebody wants an answer.
CREATE TABLE notes (
  id          TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  number      INTEGER NOT NULL, -- 1, 2, 3 for each request
  author_kind TEXT NOT NULL CHECK (author_kind IN ('user', 'agent')),
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  asks        BOOLEAN NOT NULL,
  content     TEXT NOT NULL,
  at          DATETIME NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX notes_response ON notes (response_id, number);

-- The question that stops the clock; NULL: none does.
ALTER TABLE responses ADD COLUMN open_note TEXT;

-- Parts of a request that somebody has unfolded: approving what can do much harm
-- wants all of them. Bookkeeping.
CREATE TABLE opened_parts (
  user_id     TEXT NOT NULL,
  response_id TEXT NOT NULL,
  part        TEXT NOT NULL,
  at          DATETIME NOT NULL,
  PRIMARY KEY (user_id, response_id, part)
) WITHOUT ROWID;

-- Leave to make further calls like one, without a person. fixed holds the members
-- that stay as they are, canonical, and free the names of those that may differ: a
-- call with any other member is not covered. made_by stands for it: it ends with
-- their right to decide.
CREATE TABLE grants (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL REFERENCES users (id),
  agent_id    TEXT NOT NULL REFERENCES agents (id),
  tool_name   TEXT NOT NULL,
  fixed       TEXT NOT NULL,
  free        TEXT NOT NULL,
  made_by     TEXT NOT NULL REFERENCES users (id),
  maker_name  TEXT NOT NULL,
  made_from   TEXT NOT NULL, -- the request it was made on
  created_at  DATETIME NOT NULL,
  expires_at  DATETIME NOT NULL,
  max_uses    INTEGER NOT NULL CHECK (max_uses > 0),
  uses        INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0 AND uses <= max_uses),
  used_at     DATETIME,
  revoked_at  DATETIME,
  revoked_by  TEXT,
  revoker_name TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX grants_live ON grants (agent_id, tool_name, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX grants_owner ON grants (owner_id, created_at, id);
CREATE INDEX grants_all ON grants (created_at, id);
CREATE INDEX responses_grant ON responses (grant_id, number) WHERE grant_id IS NOT NULL;

-- Verdicts in their undo window, soonest end first.
CREATE INDEX responses_held ON responses (held_until)
  WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL;

-- What became of an agent's calls of a tool, newest first. What all agents asked is
-- merged from what each did.
DROP INDEX responses_asked;
CREATE INDEX responses_tool ON responses (agent_id, tool_name) WHERE asked = TRUE;
-- What was rejected, to know it when it is asked again.
CREATE INDEX responses_rejected ON responses (agent_id, digest, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_rejected_tool ON responses (agent_id, tool_name, number) WHERE approval_status = 'rejected';

-- The history: what was settled by when it was, what went through by when it came.
CREATE INDEX responses_settled_owner ON responses (owner_id, approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_let_through ON responses (created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_let_through_owner ON responses (owner_id, created_at) WHERE approval_status IS NULL AND cause <> '';

-- Of what was routed to a person: when it was settled, NULL while it waits.
ALTER TABLE reviewers ADD COLUMN settled_at DATETIME;
UPDATE reviewers SET settled_at = (SELECT r.approval_timestamp FROM responses r WHERE r.id = response_id);
CREATE INDEX reviewers_settled ON reviewers (user_id, settled_at);
