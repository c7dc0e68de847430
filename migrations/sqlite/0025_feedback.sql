-- +goose NO TRANSACTION
-- +goose Up
-- The table is made anew: a reason that nobody gave is NULL, as the specification has
-- it, reasked_from goes, which nothing reads, and all short columns come first, so that
-- short reads stop early. Foreign keys are off meanwhile: dropping the old table would
-- else delete its rows first. Temporary copies are files: of a large table they do not
-- fit in memory. Interrupted, nothing has changed; run twice, it does the same again.
PRAGMA foreign_keys = OFF;
PRAGMA temp_store = FILE;
BEGIN IMMEDIATE;
CREATE TABLE response_rows (
  number                INTEGER PRIMARY KEY, -- order of arrival: agents choose ids, so these do not sort by time
  id                    TEXT NOT NULL UNIQUE,
  conversation_id       TEXT NOT NULL REFERENCES conversations (id),
  sequence              INTEGER NOT NULL,
  owner_id              TEXT NOT NULL REFERENCES users (id),
  agent_id              TEXT NOT NULL REFERENCES agents (id),
  kind                  TEXT NOT NULL CHECK (kind IN ('reply', 'proposal', 'tool_call', 'question', 'budget')),
  created_at            DATETIME NOT NULL,
  claimed_at            DATETIME,

  tool_use_id           TEXT,
  job_id                TEXT,
  call_id               TEXT,
  upstream_id           TEXT,
  approval_id           TEXT,
  batch_id              TEXT,
  parent_tool_use_id    TEXT NOT NULL DEFAULT '',

  digest                TEXT NOT NULL,
  digest_version        INTEGER NOT NULL DEFAULT 1 CHECK (digest_version >= 1),
  risk                  TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
  asked                 BOOLEAN NOT NULL DEFAULT TRUE,
  requires_approval     BOOLEAN NOT NULL DEFAULT FALSE,
  approval_status       TEXT CHECK (approval_status IN ('pending', 'approved', 'rejected', 'expired', 'cancelled', 'resolved')),
  approval_timestamp    DATETIME,
  approval_feedback     TEXT CHECK (approval_feedback <> ''), -- NULL: there is none
  cause                 TEXT NOT NULL DEFAULT '' CHECK (cause IN ('', 'reviewer', 'policy', 'grant', 'gate_off', 'fallback', 'timeout', 'cancelled',
                          'cascade', 'no_reviewer', 'undelivered', 'elsewhere', 'gone', 'run_ended', 'stopped')),
  policy_version        INTEGER NOT NULL DEFAULT 0,
  policy_rule           TEXT NOT NULL DEFAULT '',
  policy_reason         TEXT NOT NULL DEFAULT '',
  reviewers_only        BOOLEAN NOT NULL DEFAULT FALSE,
  self_approval         TEXT NOT NULL DEFAULT 'allowed' CHECK (self_approval IN ('allowed', 'never')),
  approvers             TEXT NOT NULL DEFAULT '',
  approval_requested_at DATETIME,
  approval_timeout_at   DATETIME NOT NULL DEFAULT '9999-12-31 00:00:00+00:00',
  held_until            DATETIME,
  paused_left           INTEGER,
  open_note             TEXT,
  decided_by            TEXT REFERENCES users (id),
  vote_id               TEXT REFERENCES votes (id),
  grant_id              TEXT,
  cascaded_from         TEXT,

  is_completed          BOOLEAN NOT NULL DEFAULT FALSE,
  completed_at          DATETIME,
  reported_at           DATETIME,
  is_error              BOOLEAN NOT NULL DEFAULT FALSE,
  closed                TEXT NOT NULL DEFAULT '' CHECK (closed IN ('', 'run', 'owner')),
  matched_by            TEXT NOT NULL DEFAULT '' CHECK (matched_by IN ('', 'tool_use_id', 'input', 'order', 'only', 'unmatched')),
  input_bytes           INTEGER,
  content_bytes         INTEGER,
  result_bytes          INTEGER,

  energy                INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  energy_budget         INTEGER CHECK (energy_budget >= 0),
  model_used            TEXT NOT NULL DEFAULT '',
  removed               TEXT,
  tool_name             TEXT NOT NULL DEFAULT '',

  description           TEXT NOT NULL DEFAULT '',
  context               TEXT NOT NULL DEFAULT '',
  options               TEXT NOT NULL DEFAULT '',
  content               TEXT NOT NULL DEFAULT '',
  tool_input_json       TEXT NOT NULL DEFAULT '',
  answer                TEXT NOT NULL DEFAULT '',
  contradiction         TEXT NOT NULL DEFAULT '',
  tool_result           TEXT NOT NULL DEFAULT ''
);
INSERT INTO response_rows (number, id, conversation_id, sequence, owner_id, agent_id, kind, created_at, claimed_at, tool_use_id, job_id, call_id, upstream_id, approval_id,
  batch_id, parent_tool_use_id, digest, digest_version, risk, asked, requires_approval, approval_status, approval_timestamp, approval_feedback, cause,
  policy_version, policy_rule, policy_reason, reviewers_only, self_approval, approvers, approval_requested_at, approval_timeout_at, held_until,
  paused_left, open_note, decided_by, vote_id, grant_id, cascaded_from, is_completed, completed_at, reported_at, is_error, closed, matched_by,
  input_bytes, content_bytes, result_bytes, energy, energy_budget, model_used, removed, tool_name, description, context, options, content,
  tool_input_json, answer, contradiction, tool_result)
SELECT number, id, conversation_id, sequence, owner_id, agent_id, kind, created_at, claimed_at, tool_use_id, job_id, call_id, upstream_id, approval_id,
  batch_id, parent_tool_use_id, digest, digest_version, risk, asked, requires_approval, approval_status, approval_timestamp, nullif(approval_feedback,
  ''), cause, policy_version, policy_rule, policy_reason, reviewers_only, self_approval, approvers, approval_requested_at, approval_timeout_at,
  held_until, paused_left, open_note, decided_by, vote_id, grant_id, cascaded_from, is_completed, completed_at, reported_at, is_error, closed,
  matched_by, input_bytes, content_bytes, result_bytes, energy, energy_budget, model_used, removed, tool_name, description, context, options, content,
  tool_input_json, answer, contradiction, tool_result
  FROM responses ORDER BY number;
DROP TABLE responses;
ALTER TABLE response_rows RENAME TO responses;

CREATE UNIQUE INDEX responses_history ON responses (conversation_id, sequence);
CREATE UNIQUE INDEX responses_tool_use ON responses (conversation_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_agent_tool_use ON responses (agent_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_pending ON responses (approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_agent ON responses (agent_id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_conversation ON responses (conversation_id, approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_settled ON responses (approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_pending_spoken ON responses (conversation_id, sequence)
  WHERE approval_status = 'pending' AND kind IN ('proposal', 'budget');
CREATE INDEX responses_open ON responses (conversation_id, tool_name, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_open_input ON responses (conversation_id, digest, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_batch ON responses (conversation_id, batch_id, sequence) WHERE kind = 'tool_call' AND batch_id IS NOT NULL;
CREATE INDEX responses_unfinished ON responses (conversation_id, parent_tool_use_id, batch_id)
  WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending');
CREATE INDEX responses_owner ON responses (owner_id) WHERE asked = TRUE;
CREATE INDEX responses_agent ON responses (agent_id) WHERE asked = TRUE;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL AND upstream_id IS NULL;
CREATE INDEX responses_pending_upstream ON responses (upstream_id) WHERE approval_status = 'pending' AND upstream_id IS NOT NULL;
CREATE INDEX responses_grant ON responses (grant_id, number) WHERE grant_id IS NOT NULL;
CREATE INDEX responses_held ON responses (held_until)
  WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL;
CREATE INDEX responses_tool ON responses (agent_id, tool_name) WHERE asked = TRUE;
CREATE INDEX responses_rejected ON responses (agent_id, digest, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_rejected_tool ON responses (agent_id, tool_name, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_settled_owner ON responses (owner_id, approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_let_through ON responses (created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_let_through_owner ON responses (owner_id, created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_approved_harm ON responses (agent_id, digest, approval_timestamp)
  WHERE approval_status = 'approved' AND risk IN ('high', 'critical');
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (CASE tool_name WHEN 'allow_agent_energy' THEN agent_id ELSE conversation_id END)
  WHERE kind = 'budget' AND approval_status = 'pending';
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id, kind) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL AND approval_status = 'pending';
CREATE INDEX responses_cascaded ON responses (conversation_id, digest, sequence) WHERE cause = 'cascade' AND is_completed = FALSE;

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
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are kept'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_approvers BEFORE UPDATE OF reviewers_only, self_approval, approvers ON responses
WHEN OLD.approval_status IS NOT NULL
  AND (NEW.reviewers_only IS NOT OLD.reviewers_only OR NEW.self_approval IS NOT OLD.self_approval OR NEW.approvers IS NOT OLD.approvers)
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_removed BEFORE UPDATE OF removed ON responses
WHEN OLD.removed IS NOT NULL OR OLD.approval_status IS 'pending'
  OR coalesce(NEW.removed, '') NOT GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*'
BEGIN SELECT RAISE(ABORT, 'contents are removed once, and not from what is pending'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_content BEFORE UPDATE OF kind, digest, tool_name, tool_input_json, content, options, agent_id, owner_id ON responses
WHEN NEW.kind IS NOT OLD.kind OR NEW.digest IS NOT OLD.digest OR NEW.tool_name IS NOT OLD.tool_name
  OR NEW.owner_id IS NOT OLD.owner_id
  OR NEW.agent_id IS NOT OLD.agent_id AND NOT (OLD.matched_by = 'unmatched' AND NEW.matched_by <> 'unmatched' AND OLD.approval_status = 'pending' AND OLD.held_until IS NULL
    AND NEW.agent_id IS (SELECT c.agent_id FROM conversations c WHERE c.id = NEW.conversation_id AND c.owner_id = NEW.owner_id))
  OR (NEW.tool_input_json IS NOT OLD.tool_input_json OR NEW.content IS NOT OLD.content OR NEW.options IS NOT OLD.options)
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL
      AND NEW.tool_input_json IN (OLD.tool_input_json, json_object('removed', NEW.removed))
      AND NEW.content IN (OLD.content, NEW.removed)
      AND NEW.options IN (OLD.options, json_array(json_object('name', NEW.removed))))
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved')
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND (NEW.approval_feedback IS OLD.approval_feedback OR NEW.approval_feedback IS NEW.removed)
    AND NEW.approval_status IS OLD.approval_status AND NEW.approval_timestamp IS OLD.approval_timestamp AND NEW.cause IS OLD.cause
    AND NEW.decided_by IS OLD.decided_by AND NEW.vote_id IS OLD.vote_id)
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_digested BEFORE UPDATE OF digest_version, description, energy_budget ON responses
WHEN NEW.digest_version IS NOT OLD.digest_version
  OR NEW.kind = 'question' AND NEW.description IS NOT OLD.description
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.description = NEW.removed)
  OR NEW.kind = 'proposal' AND NEW.energy_budget IS NOT OLD.energy_budget
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
COMMIT;
PRAGMA temp_store = MEMORY;
PRAGMA foreign_keys = ON;
