-- +goose Up
-- What was removed from a row: "removed on 2026-11-22, by …", the mark that stands
-- in the place of its contents; NULL: nothing was. The ledger names each such row.
ALTER TABLE responses ADD COLUMN removed TEXT;
ALTER TABLE messages ADD COLUMN removed TEXT;

-- Removing happens once, to what waits for nobody, and has a date and a name.
-- +goose StatementBegin
CREATE TRIGGER responses_removed BEFORE UPDATE OF removed ON responses
WHEN OLD.removed IS NOT NULL OR OLD.approval_status IS 'pending'
  OR coalesce(NEW.removed, '') NOT GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*'
BEGIN SELECT RAISE(ABORT, 'contents are removed once, and not from what is pending'); END;
-- +goose StatementEnd

-- These three refuse as before, but for contents that give way to the mark.
DROP TRIGGER responses_content;
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
DROP TRIGGER responses_outcome;
-- +goose StatementBegin
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved')
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.approval_feedback IN (OLD.approval_feedback, NEW.removed)
    AND NEW.approval_status IS OLD.approval_status AND NEW.approval_timestamp IS OLD.approval_timestamp AND NEW.cause IS OLD.cause
    AND NEW.decided_by IS OLD.decided_by AND NEW.vote_id IS OLD.vote_id)
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
-- +goose StatementEnd
DROP TRIGGER responses_digested;
-- +goose StatementBegin
CREATE TRIGGER responses_digested BEFORE UPDATE OF digest_version, description, energy_budget ON responses
WHEN NEW.digest_version IS NOT OLD.digest_version
  OR NEW.kind = 'question' AND NEW.description IS NOT OLD.description
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.description = NEW.removed)
  OR NEW.kind = 'proposal' AND NEW.energy_budget IS NOT OLD.energy_budget
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
