-- +goose Up

CREATE TABLE users (
  id            TEXT PRIMARY KEY,
  email         TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name          TEXT NOT NULL,
  role          TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  password_hash TEXT NOT NULL,
  created_at    DATETIME NOT NULL,
  disabled_at   DATETIME
) WITHOUT ROWID;
CREATE INDEX users_enabled_admins ON users (id) WHERE role = 'admin' AND disabled_at IS NULL;

CREATE TABLE web_sessions (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  user_id      TEXT NOT NULL REFERENCES users (id),
  created_at   DATETIME NOT NULL,
  last_seen_at DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  address      TEXT NOT NULL,
  user_agent   TEXT NOT NULL,
  revoked_at   DATETIME
) WITHOUT ROWID;
CREATE INDEX web_sessions_user ON web_sessions (user_id) WHERE revoked_at IS NULL;
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- Failed sign-ins of the last minutes; rows outlive a restart, not the window.
CREATE TABLE signin_failures (
  id      INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  at      DATETIME NOT NULL
);
CREATE INDEX signin_failures_pair ON signin_failures (account, address, at);
CREATE INDEX signin_failures_address ON signin_failures (address, at);
CREATE INDEX signin_failures_at ON signin_failures (at);

-- One-time links: the hash of the secret, while it is good.
CREATE TABLE setup_links (
  secret_hash BLOB PRIMARY KEY,
  created_at  DATETIME NOT NULL,
  used_at     DATETIME
) WITHOUT ROWID;

CREATE TABLE agents (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL REFERENCES users (id),
  name        TEXT NOT NULL,
  created_at  DATETIME NOT NULL,
  disabled_at DATETIME,
  UNIQUE (owner_id, name)
) WITHOUT ROWID;

CREATE TABLE tokens (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  hint         TEXT NOT NULL,
  scope        TEXT NOT NULL CHECK (scope IN ('agent', 'reviewer', 'admin')),
  user_id      TEXT NOT NULL REFERENCES users (id),
  agent_id     TEXT REFERENCES agents (id),
  name         TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME,
  revoked_at   DATETIME,
  last_used_at DATETIME,
  CHECK ((scope = 'agent') = (agent_id IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX tokens_user ON tokens (user_id, created_at);
CREATE INDEX tokens_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;

CREATE TABLE policies (
  version     INTEGER PRIMARY KEY,
  document    TEXT NOT NULL,
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  note        TEXT NOT NULL,
  created_at  DATETIME NOT NULL
);

CREATE TABLE conversations (
  id              TEXT PRIMARY KEY,
  owner_id        TEXT NOT NULL REFERENCES users (id),
  agent_id        TEXT NOT NULL REFERENCES agents (id),
  run_id          TEXT,
  parent_run_id   TEXT,
  title           TEXT NOT NULL DEFAULT '',
  status          TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'waiting_input', 'completed', 'failed')),
  standing        BOOLEAN NOT NULL DEFAULT FALSE,
  on_reject       TEXT NOT NULL DEFAULT 'continue' CHECK (on_reject IN ('cascade', 'continue')),
  next_sequence   INTEGER NOT NULL DEFAULT 1,
  energy_budget   INTEGER CHECK (energy_budget >= 0),
  energy_used     INTEGER NOT NULL DEFAULT 0 CHECK (energy_used >= 0),
  energy_reserved INTEGER NOT NULL DEFAULT 0 CHECK (energy_reserved >= 0),
  created_at      DATETIME NOT NULL,
  updated_at      DATETIME NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX conversations_run ON conversations (owner_id, run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX conversations_standing ON conversations (agent_id) WHERE standing;
CREATE INDEX conversations_parent_run ON conversations (owner_id, parent_run_id, created_at) WHERE parent_run_id IS NOT NULL;

-- One thing an agent put forward. requires_approval, approval_status,
-- approval_timestamp and approval_feedback are its approval; there is no other
-- table of approvals. The large columns come last, so that short reads stop early.
CREATE TABLE responses (
  number                INTEGER PRIMARY KEY, -- order of arrival: agents choose ids, so these do not sort by time
  id                    TEXT NOT NULL UNIQUE,
  conversation_id       TEXT NOT NULL REFERENCES conversations (id),
  sequence              INTEGER NOT NULL,
  owner_id              TEXT NOT NULL REFERENCES users (id),
  agent_id              TEXT NOT NULL REFERENCES agents (id),
  kind                  TEXT NOT NULL CHECK (kind IN ('reply', 'proposal', 'tool_call', 'question', 'budget')),
  created_at            DATETIME NOT NULL,

  tool_use_id           TEXT,
  job_id                TEXT,
  call_id               TEXT,
  upstream_id           TEXT,
  approval_id           TEXT,
  batch_id              TEXT,

  digest                TEXT NOT NULL,
  risk                  TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
  requires_approval     BOOLEAN NOT NULL DEFAULT FALSE,
  approval_status       TEXT CHECK (approval_status IN ('pending', 'approved', 'rejected', 'expired', 'cancelled', 'resolved')),
  approval_timestamp    DATETIME,
  approval_feedback     TEXT NOT NULL DEFAULT '',
  cause                 TEXT NOT NULL DEFAULT '' CHECK (cause IN ('', 'reviewer', 'policy', 'grant', 'gate_off', 'fallback', 'timeout', 'cancelled',
                          'cascade', 'no_reviewer', 'undelivered', 'elsewhere', 'gone', 'run_ended', 'stopped')),
  policy_version        INTEGER NOT NULL DEFAULT 0,
  policy_rule           TEXT NOT NULL DEFAULT '',
  policy_reason         TEXT NOT NULL DEFAULT '',
  approval_requested_at DATETIME,
  approval_timeout_at   DATETIME NOT NULL DEFAULT '9999-12-31 00:00:00+00:00',
  held_until            DATETIME,
  paused_left           INTEGER,
  decided_by            TEXT REFERENCES users (id),
  vote_id               TEXT REFERENCES votes (id),
  grant_id              TEXT,
  cascaded_from         TEXT,
  reasked_from          TEXT,

  is_completed          BOOLEAN NOT NULL DEFAULT FALSE,
  completed_at          DATETIME,

  energy                INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  energy_budget         INTEGER CHECK (energy_budget >= 0),
  model_used            TEXT NOT NULL DEFAULT '',

  description           TEXT NOT NULL DEFAULT '',
  context               TEXT NOT NULL DEFAULT '',
  options               TEXT NOT NULL DEFAULT '',
  content               TEXT NOT NULL DEFAULT '',
  tool_name             TEXT NOT NULL DEFAULT '',
  tool_input_json       TEXT NOT NULL DEFAULT '',
  answer                TEXT NOT NULL DEFAULT '',
  tool_result           TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX responses_history ON responses (conversation_id, sequence);
CREATE UNIQUE INDEX responses_tool_use ON responses (conversation_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_agent_tool_use ON responses (agent_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL;
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL;
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (conversation_id) WHERE kind = 'budget' AND approval_status = 'pending';
CREATE INDEX responses_pending ON responses (approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_agent ON responses (agent_id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_conversation ON responses (conversation_id, approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_settled ON responses (approval_timestamp) WHERE approval_timestamp IS NOT NULL;
-- These end with the number, as every index of a rowid table does.
CREATE INDEX responses_owner ON responses (owner_id);
CREATE INDEX responses_agent ON responses (agent_id);

CREATE TABLE votes (
  id           TEXT PRIMARY KEY,
  response_id  TEXT NOT NULL REFERENCES responses (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  user_name    TEXT NOT NULL,
  verdict      TEXT NOT NULL CHECK (verdict IN ('approve', 'reject', 'answer')),
  reason       TEXT NOT NULL DEFAULT '',
  digest       TEXT NOT NULL,
  seen_digest  TEXT NOT NULL DEFAULT '',
  input        TEXT,
  input_digest TEXT,
  answer       TEXT,
  option       TEXT,
  at           DATETIME NOT NULL,
  withdrawn_at DATETIME
) WITHOUT ROWID;
CREATE INDEX votes_response ON votes (response_id);

-- The inbox of a person: who may decide a row that is pending now. Admins read
-- the partial index instead. Rows leave with the pending state.
CREATE TABLE deciders (
  user_id     TEXT NOT NULL,
  deadline    DATETIME NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (user_id, deadline, response_id)
) WITHOUT ROWID;
CREATE INDEX deciders_response ON deciders (response_id);

-- Who a rule routed a request to, frozen at the ask; stays when it is settled.
CREATE TABLE reviewers (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id),
  PRIMARY KEY (user_id, response_id)
) WITHOUT ROWID;
CREATE INDEX reviewers_response ON reviewers (response_id);

CREATE TABLE ledger (
  seq             INTEGER PRIMARY KEY,
  at              TEXT NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system', 'operator')),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  action          TEXT NOT NULL,
  owner_id        TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  response_id     TEXT NOT NULL,
  data            TEXT NOT NULL,
  prev            BLOB NOT NULL,
  hash            BLOB NOT NULL
);
CREATE INDEX ledger_owner ON ledger (owner_id, seq) WHERE owner_id <> '';
CREATE INDEX ledger_actor ON ledger (actor_id, seq) WHERE actor_id <> '';
CREATE INDEX ledger_conversation ON ledger (conversation_id, seq) WHERE conversation_id <> '';

CREATE TABLE ledger_head (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  seq  INTEGER NOT NULL,
  hash BLOB NOT NULL
);
INSERT INTO ledger_head (id, seq, hash) VALUES (1, 0, x'');

-- +goose StatementBegin
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_in_order BEFORE INSERT ON ledger
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'the ledger has no gaps'); END;
-- +goose StatementEnd

-- Allowed: NULL to pending, NULL to rejected, pending to one of the final five
-- (I1). A row begins as NULL, as pending, or as rejected by policy.
-- +goose StatementBegin
CREATE TRIGGER responses_begin BEFORE INSERT ON responses
WHEN NEW.approval_status IS NOT NULL AND NEW.approval_status <> 'pending'
  AND NOT (NEW.approval_status = 'rejected' AND NEW.cause IN ('policy', 'no_reviewer', 'cascade'))
BEGIN SELECT RAISE(ABORT, 'an approval begins as NULL, pending, or rejected by policy'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses
WHEN NEW.approval_status IS NOT OLD.approval_status
  -- coalesce: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS NULL AND coalesce(NEW.approval_status, '') IN ('pending', 'rejected'))
  AND NOT (coalesce(OLD.approval_status, '') = 'pending'
    AND coalesce(NEW.approval_status, '') IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved'))
BEGIN SELECT RAISE(ABORT, 'an approval moves from NULL to pending or rejected, and from pending once'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_content BEFORE UPDATE OF kind, digest, tool_name, tool_input_json, content, options, agent_id, owner_id ON responses
WHEN NEW.kind IS NOT OLD.kind OR NEW.digest IS NOT OLD.digest OR NEW.tool_name IS NOT OLD.tool_name
  OR NEW.tool_input_json IS NOT OLD.tool_input_json OR NEW.content IS NOT OLD.content OR NEW.options IS NOT OLD.options
  OR NEW.agent_id IS NOT OLD.agent_id OR NEW.owner_id IS NOT OLD.owner_id
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved')
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are kept'); END;
-- +goose StatementEnd
