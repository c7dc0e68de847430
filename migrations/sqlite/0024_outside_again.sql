-- +goose Up
-- An id of another system may be used for a call and for a contact, may ask for
-- something else later, and may be listed again after it was settled: each is a
-- request of its own. again tells them apart; the last one is what is listed now.
CREATE TABLE outside_rows (
  number      INTEGER PRIMARY KEY,
  upstream_id TEXT NOT NULL,
  call_id     TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('function_call', 'human_contact')),
  again       INTEGER NOT NULL DEFAULT 0,
  run_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  raw         TEXT NOT NULL,
  beside      TEXT NOT NULL DEFAULT '',
  first_at    DATETIME NOT NULL,
  timeout_at  DATETIME,
  polls       INTEGER NOT NULL DEFAULT 0, -- in which no call fitted
  response_id TEXT NOT NULL DEFAULT '',
  tool_use_id TEXT NOT NULL DEFAULT '',
  digest      TEXT NOT NULL DEFAULT '',   -- of tool and arguments; empty: nothing equals it
  waits       BOOLEAN NOT NULL DEFAULT FALSE,
  linked_id   TEXT NOT NULL DEFAULT '',
  linked_by   TEXT NOT NULL DEFAULT '' CHECK (linked_by IN ('', 'tool_use_id', 'input', 'order', 'only')),
  removed     TEXT,
  UNIQUE (upstream_id, call_id, kind, again)
);
INSERT INTO outside_rows (upstream_id, call_id, kind, run_id, name, arguments, raw, beside, first_at, timeout_at, polls, response_id, tool_use_id, digest, waits, linked_id, linked_by, removed)
SELECT upstream_id, call_id, kind, run_id, name, arguments, raw, beside, first_at, timeout_at, polls, response_id, tool_use_id, digest, waits, linked_id, linked_by, removed FROM outside_approvals;
DROP TABLE outside_approvals;
ALTER TABLE outside_rows RENAME TO outside_approvals;
CREATE INDEX outside_approvals_waiting ON outside_approvals (upstream_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_wanted ON outside_approvals (digest, run_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_linked ON outside_approvals (linked_id) WHERE linked_id <> '';

-- One of each is pending at a time.
DROP INDEX responses_upstream_call;
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id, kind) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL AND approval_status = 'pending';

-- Calls that were rejected with their batch, which another system may ask about yet.
CREATE INDEX responses_cascaded ON responses (conversation_id, digest, sequence) WHERE cause = 'cascade' AND is_completed = FALSE;
