-- +goose Up
-- What came through the function-call API, whose client runs its call as it made it and so
-- never hears of an edited input. client_data is what such a client sends beside what is
-- asked, and reads again: {"channel", "state", "subject", "reject_options"}, without
-- credentials. escalated_at is when the agent last asked for more attention.
ALTER TABLE responses ADD COLUMN protocol TEXT NOT NULL DEFAULT '' CHECK (protocol IN ('', 'function_calls'));
ALTER TABLE responses ADD COLUMN client_data TEXT NOT NULL DEFAULT '';
ALTER TABLE responses ADD COLUMN escalated_at DATETIME;
ALTER TABLE notes ADD COLUMN escalates BOOLEAN NOT NULL DEFAULT FALSE;

-- The client's id of a call is its key among all of its agent (I9).
CREATE UNIQUE INDEX responses_function_calls ON responses (agent_id, tool_use_id) WHERE protocol <> '';
CREATE INDEX responses_pending_protocol ON responses (agent_id, kind, number) WHERE protocol <> '' AND approval_status = 'pending';

-- A call that was only reported gets them when it is asked about.
-- +goose StatementBegin
CREATE TRIGGER responses_client BEFORE UPDATE OF protocol, client_data ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.protocol IS NOT OLD.protocol OR NEW.client_data IS NOT OLD.client_data
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.client_data = json_object('removed', NEW.removed)))
BEGIN SELECT RAISE(ABORT, 'what a client sent never changes'); END;
-- +goose StatementEnd
