-- +goose Up

-- What an agent reports of its calls. A row that was reported before anybody
-- asked about it has no status and no cause until something happens.
ALTER TABLE responses ADD COLUMN reported_at DATETIME;
ALTER TABLE responses ADD COLUMN is_error BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE responses ADD COLUMN closed TEXT NOT NULL DEFAULT '' CHECK (closed IN ('', 'run', 'owner')); -- completed without a result, and by whom
ALTER TABLE responses ADD COLUMN input_bytes INTEGER;   -- the true length of an input that is kept cut: it cannot be approved
ALTER TABLE responses ADD COLUMN content_bytes INTEGER; -- of a content that is kept cut
ALTER TABLE responses ADD COLUMN result_bytes INTEGER;  -- of a result that is kept cut
ALTER TABLE responses ADD COLUMN contradiction TEXT NOT NULL DEFAULT ''; -- what was reported against what stands
ALTER TABLE responses ADD COLUMN matched_by TEXT NOT NULL DEFAULT ''
  CHECK (matched_by IN ('', 'tool_use_id', 'input', 'order', 'only', 'unmatched')); -- how an outside approval found it

-- The assistant message whose calls are under way: the next one closes them.
ALTER TABLE conversations ADD COLUMN batch_id TEXT;

-- Calls to which nothing has happened yet: what an outside approval may be for.
CREATE INDEX responses_open ON responses (conversation_id, tool_name, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_open_input ON responses (conversation_id, digest, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_batch ON responses (conversation_id, batch_id, sequence) WHERE batch_id IS NOT NULL;
-- Reported calls without a result, whatever else has happened to them.
CREATE INDEX responses_unfinished ON responses (conversation_id, sequence)
  WHERE reported_at IS NOT NULL AND kind = 'tool_call' AND is_completed = FALSE;

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
