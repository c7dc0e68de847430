-- +goose Up
-- An outside approval that found no call waits for one: its call may be reported later. linked_id is that call where both
-- keep a row of their own.
ALTER TABLE outside_approvals ADD COLUMN tool_use_id TEXT NOT NULL DEFAULT '';
ALTER TABLE outside_approvals ADD COLUMN digest TEXT NOT NULL DEFAULT ''; -- of tool and arguments; empty: nothing equals it
ALTER TABLE outside_approvals ADD COLUMN waits BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE outside_approvals ADD COLUMN linked_id TEXT NOT NULL DEFAULT '';
ALTER TABLE outside_approvals ADD COLUMN linked_by TEXT NOT NULL DEFAULT '' CHECK (linked_by IN ('', 'tool_use_id', 'input', 'order', 'only'));
CREATE INDEX outside_approvals_waiting ON outside_approvals (upstream_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_wanted ON outside_approvals (digest, run_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_linked ON outside_approvals (linked_id) WHERE linked_id <> '';
UPDATE outside_approvals SET waits = TRUE, digest = (SELECT iif(r.input_bytes IS NULL, r.digest, '') FROM responses r WHERE r.id = response_id)
 WHERE kind = 'function_call' AND run_id <> ''
   AND EXISTS (SELECT 1 FROM responses r WHERE r.id = response_id AND r.approval_status = 'pending' AND r.matched_by = 'unmatched');

-- A request that finds its call moves to the run of that call, and becomes its agent's.
DROP TRIGGER responses_content;
-- +goose StatementBegin
CREATE TRIGGER responses_content BEFORE UPDATE OF kind, digest, tool_name, tool_input_json, content, options, agent_id, owner_id ON responses
WHEN NEW.kind IS NOT OLD.kind OR NEW.digest IS NOT OLD.digest OR NEW.tool_name IS NOT OLD.tool_name
  OR NEW.tool_input_json IS NOT OLD.tool_input_json OR NEW.content IS NOT OLD.content OR NEW.options IS NOT OLD.options
  OR NEW.owner_id IS NOT OLD.owner_id
  OR NEW.agent_id IS NOT OLD.agent_id AND NOT (OLD.matched_by = 'unmatched' AND NEW.matched_by <> 'unmatched' AND OLD.approval_status = 'pending' AND OLD.held_until IS NULL
    AND NEW.agent_id IS (SELECT c.agent_id FROM conversations c WHERE c.id = NEW.conversation_id AND c.owner_id = NEW.owner_id))
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd

-- Who chose what follows a rejection: what a person chose, the agent does not change.
ALTER TABLE conversations ADD COLUMN on_reject_by TEXT NOT NULL DEFAULT '' CHECK (on_reject_by IN ('', 'agent', 'person'));
UPDATE conversations SET on_reject_by = 'agent' WHERE on_reject = 'cascade' AND NOT standing;
