-- +goose Up

-- What an agent reports of its calls. A row that was reported before anybody
-- asked about it has no status and no cause until something happens.
ALTER TABLE responses ADD COLUMN reported_at DATETIME; -- when the agent says that it was, and not later than it arrived
ALTER TABLE responses ADD COLUMN parent_tool_use_id TEXT NOT NULL DEFAULT ''; -- the call that started the sub-agent whose it is
ALTER TABLE responses ADD COLUMN is_error BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE responses ADD COLUMN closed TEXT NOT NULL DEFAULT '' CHECK (closed IN ('', 'run', 'owner')); -- completed without a result, and by whom
ALTER TABLE responses ADD COLUMN input_bytes INTEGER;   -- the true length of an input that is kept cut: it cannot be approved
ALTER TABLE responses ADD COLUMN content_bytes INTEGER; -- of a content that is kept cut
ALTER TABLE responses ADD COLUMN result_bytes INTEGER;  -- of a result that is kept cut
ALTER TABLE responses ADD COLUMN contradiction TEXT NOT NULL DEFAULT ''; -- what was reported against what stands
ALTER TABLE responses ADD COLUMN matched_by TEXT NOT NULL DEFAULT ''
  CHECK (matched_by IN ('', 'tool_use_id', 'input', 'order', 'only', 'unmatched')); -- how an outside approval found it
ALTER TABLE messages ADD COLUMN content_bytes INTEGER; -- of a content that is kept cut

-- Calls to which nothing has happened yet: what an outside approval may be for.
CREATE INDEX responses_open ON responses (conversation_id, tool_name, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_open_input ON responses (conversation_id, digest, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_batch ON responses (conversation_id, batch_id, sequence) WHERE kind = 'tool_call' AND batch_id IS NOT NULL;
-- Reported calls that are under way, by the agent or sub-agent whose they are:
-- its next message closes those of the one before.
CREATE INDEX responses_unfinished ON responses (conversation_id, parent_tool_use_id, batch_id)
  WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending');

-- Lists of requests leave out what is only reported, and what is said. A column
-- says so, since an index whose condition names the status would be written anew
-- with every outcome. These end with the number, as every index of a rowid table
-- does.
ALTER TABLE responses ADD COLUMN asked BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE responses SET asked = FALSE WHERE kind = 'reply';
DROP INDEX responses_owner;
CREATE INDEX responses_owner ON responses (owner_id) WHERE asked = TRUE;
DROP INDEX responses_agent;
CREATE INDEX responses_agent ON responses (agent_id) WHERE asked = TRUE;
CREATE INDEX responses_asked ON responses (number) WHERE asked = TRUE;

-- Each reported event once: by its own id, or by type and tool use.
CREATE TABLE run_events (
  conversation_id TEXT NOT NULL,
  key             TEXT NOT NULL,
  digest          BLOB NOT NULL, -- of what was reported under the key
  response_id     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (conversation_id, key)
) WITHOUT ROWID;

-- Results of calls that have not been reported yet.
CREATE TABLE early_results (
  conversation_id TEXT NOT NULL,
  tool_use_id     TEXT NOT NULL,
  at              DATETIME NOT NULL,
  is_error        BOOLEAN NOT NULL,
  result_bytes    INTEGER,
  result          TEXT NOT NULL,
  PRIMARY KEY (conversation_id, tool_use_id)
) WITHOUT ROWID;

-- Ids of calls are unique at each upstream, and otherwise for each agent.
DROP INDEX responses_agent_call;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL AND upstream_id IS NULL;

-- Other systems that ask for approvals. The key is sealed with a key file in the
-- data folder; how the last polls went is bookkeeping.
CREATE TABLE upstreams (
  id              TEXT PRIMARY KEY,
  name            TEXT NOT NULL UNIQUE,
  base_url        TEXT NOT NULL,
  dialect         TEXT NOT NULL CHECK (dialect IN ('plain', 'cloud')),
  key_sealed      BLOB NOT NULL,
  owner_id        TEXT NOT NULL REFERENCES users (id),
  agent_id        TEXT NOT NULL REFERENCES agents (id), -- that its unmatched requests belong to
  created_at      DATETIME NOT NULL,
  disabled_at     DATETIME,
  next_poll_at    DATETIME NOT NULL,
  polled_at       DATETIME,                             -- begun last
  succeeded_at    DATETIME,
  failures        INTEGER NOT NULL DEFAULT 0,           -- in a row
  problem         TEXT NOT NULL DEFAULT ''              -- of the last poll, in words
) WITHOUT ROWID;
CREATE INDEX upstreams_due ON upstreams (next_poll_at) WHERE disabled_at IS NULL;

-- What was fetched, each once. response_id is empty until it has found its call
-- or got a response of its own.
CREATE TABLE outside_approvals (
  upstream_id TEXT NOT NULL,
  call_id     TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('function_call', 'human_contact')),
  run_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  raw         TEXT NOT NULL,
  first_at    DATETIME NOT NULL,
  timeout_at  DATETIME,
  polls       INTEGER NOT NULL DEFAULT 0, -- in which no call fitted
  response_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (upstream_id, call_id)
) WITHOUT ROWID;
CREATE INDEX responses_pending_upstream ON responses (upstream_id) WHERE approval_status = 'pending' AND upstream_id IS NOT NULL;

-- Verdicts on their way to an upstream. in_flight_at is set while an attempt runs,
-- lost once an attempt may have arrived although its answer did not.
CREATE TABLE deliveries (
  response_id  TEXT PRIMARY KEY,
  upstream_id  TEXT NOT NULL,
  vote_id      TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  give_up_at   DATETIME NOT NULL,
  next_at      DATETIME NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  in_flight_at DATETIME,
  lost         BOOLEAN NOT NULL DEFAULT FALSE,
  problem      TEXT NOT NULL DEFAULT '',
  done_at      DATETIME,
  outcome      TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (upstream_id, next_at) WHERE done_at IS NULL;
CREATE INDEX deliveries_untold ON deliveries (upstream_id, created_at) WHERE done_at IS NULL;

-- Work that one process of the installation does at a time.
CREATE TABLE leases (
  name   TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  holder TEXT NOT NULL,
  until  DATETIME NOT NULL
) WITHOUT ROWID;
