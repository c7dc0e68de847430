-- +goose Up
-- What all conversations of an agent have spent, by the minute (Unix time / 60). Written only while the policy limits it
-- (budget_per_agent).
CREATE TABLE agent_energy (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  energy   INTEGER NOT NULL CHECK (energy >= 0),
  PRIMARY KEY (agent_id, minute)
) WITHOUT ROWID;

-- The sum of agent_energy and of agent_allowances over the hours before a minute, so that an ask adds to one row instead
-- of reading a window.
CREATE TABLE agent_windows (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  hours    INTEGER NOT NULL CHECK (hours >= 1),
  spent    INTEGER NOT NULL CHECK (spent >= 0),
  allowed  INTEGER NOT NULL CHECK (allowed >= 0)
) WITHOUT ROWID;

-- How the requests for more were decided: what an agent may spend besides, before a minute. 0: nothing, and nobody is
-- asked again before it.
CREATE TABLE agent_allowances (
  agent_id    TEXT NOT NULL REFERENCES agents (id),
  until       INTEGER NOT NULL,
  response_id TEXT NOT NULL,
  energy      INTEGER NOT NULL CHECK (energy >= 0),
  PRIMARY KEY (agent_id, until, response_id)
) WITHOUT ROWID;

-- One pending budget request for each conversation, and one for each agent.
DROP INDEX responses_one_pending_budget;
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (CASE tool_name WHEN 'allow_agent_energy' THEN agent_id ELSE conversation_id END)
  WHERE kind = 'budget' AND approval_status = 'pending';

-- What the built-in agent has reserved in its conversations: few at any time.
CREATE INDEX conversations_reserved ON conversations (agent_id) WHERE energy_reserved > 0;
