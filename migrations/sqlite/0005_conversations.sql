-- +goose Up
-- Columns that name a response have no foreign key: with one, every ask would
-- search each of these tables for rows that waited for it, and responses are kept.

-- The system's own agent, one for each person who talks to it. It has no tokens,
-- and its name is nobody else's.
ALTER TABLE agents ADD COLUMN system BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE agents SET name = 'built-in of ' || id WHERE name = 'built-in';

ALTER TABLE conversations ADD COLUMN paused_at DATETIME;
ALTER TABLE conversations ADD COLUMN archived_at DATETIME;
-- updated_at to the minute: lists are ordered by it, and an index on what every
-- ask changes would cost every ask a page.
ALTER TABLE conversations ADD COLUMN active_at DATETIME NOT NULL DEFAULT '1970-01-01 00:00:00+00:00';
UPDATE conversations SET active_at = updated_at;
ALTER TABLE conversations ADD COLUMN budget_added INTEGER NOT NULL DEFAULT 0 CHECK (budget_added >= 0);
ALTER TABLE conversations ADD COLUMN budget_refused TEXT;

CREATE INDEX conversations_all ON conversations (active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner ON conversations (owner_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_agent ON conversations (agent_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_status ON conversations (status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner_status ON conversations (owner_id, status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_archived ON conversations (active_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX conversations_owner_archived ON conversations (owner_id, active_at, id) WHERE archived_at IS NOT NULL;

-- What a run waits for: the most recent proposal or budget request first.
CREATE INDEX responses_pending_spoken ON responses (conversation_id, sequence)
  WHERE approval_status = 'pending' AND kind IN ('proposal', 'budget');

-- What was said into a conversation. Messages, responses and changes of the
-- budget share one sequence.
CREATE TABLE messages (
  id              TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  author_kind     TEXT NOT NULL CHECK (author_kind IN ('user', 'agent', 'system')),
  author_id       TEXT NOT NULL,
  author_name     TEXT NOT NULL,
  content         TEXT NOT NULL,
  response_id     TEXT,
  created_at      DATETIME NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX messages_history ON messages (conversation_id, sequence);

CREATE TABLE budget_steps (
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  at              DATETIME NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system', 'operator')),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  old             INTEGER CHECK (old >= 0),
  new             INTEGER NOT NULL CHECK (new >= 0),
  reason          TEXT NOT NULL DEFAULT '',
  response_id     TEXT,
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;

-- What the built-in agent's model said, turn by turn, with the result of each of
-- its calls: its context is made from this. energy is what no response carries.
CREATE TABLE turns (
  conversation_id   TEXT NOT NULL REFERENCES conversations (id),
  sequence          INTEGER NOT NULL,
  at                DATETIME NOT NULL,
  model             TEXT NOT NULL,
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  energy            INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  said              TEXT NOT NULL, -- JSON: content, calls with name, arguments, result or response
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;

-- The built-in agent's inbox: conversations that it runs. ready_at is when there
-- is something to do, NULL while it waits for a person. Whoever works on one
-- holds a lease, and writes only while it is the number that stands.
CREATE TABLE agent_inbox (
  conversation_id TEXT PRIMARY KEY REFERENCES conversations (id),
  ready_at        DATETIME,
  lease           INTEGER NOT NULL DEFAULT 0,
  holder          TEXT NOT NULL DEFAULT '',
  leased_until    DATETIME,                   -- NULL: nobody works on it
  turns           INTEGER NOT NULL DEFAULT 0, -- since a person last did something
  attempts        INTEGER NOT NULL DEFAULT 0  -- of the model that failed, in a row
) WITHOUT ROWID;
CREATE INDEX agent_inbox_ready ON agent_inbox (ready_at) WHERE ready_at IS NOT NULL;
