-- +goose Up
-- Who may approve a request, as the rule said at the ask: only the people that it
-- names, and whether the agent's owner may. approvers are those people, as JSON;
-- empty where the rule makes no demand.
ALTER TABLE responses ADD COLUMN reviewers_only BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE responses ADD COLUMN self_approval TEXT NOT NULL DEFAULT 'allowed' CHECK (self_approval IN ('allowed', 'never'));
ALTER TABLE responses ADD COLUMN approvers TEXT NOT NULL DEFAULT '';
-- It changes only while nobody has been asked (I12).
-- +goose StatementBegin
CREATE TRIGGER responses_approvers BEFORE UPDATE OF reviewers_only, self_approval, approvers ON responses
WHEN OLD.approval_status IS NOT NULL
  AND (NEW.reviewers_only IS NOT OLD.reviewers_only OR NEW.self_approval IS NOT OLD.self_approval OR NEW.approvers IS NOT OLD.approvers)
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
-- +goose StatementEnd
-- An approval with an edit that others must approve too is kept, and does not
-- count before they do: who they are, as JSON; empty for a vote that counts.
ALTER TABLE votes ADD COLUMN waits_for TEXT NOT NULL DEFAULT '';
