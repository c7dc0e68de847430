-- +goose Up
-- What several people must do to approve a request, as its rule said at the ask: JSON (models.Quorum); empty: one
-- approves it.
ALTER TABLE responses ADD COLUMN quorum text NOT NULL DEFAULT '';
-- Since when nobody is left who could sign it; NULL: they could.
ALTER TABLE responses ADD COLUMN stranded_at timestamptz;
-- Of a signature: the vote whose edit began the count anew; empty: none did.
ALTER TABLE votes ADD COLUMN replaced_by text NOT NULL DEFAULT '';
-- Requests that were settled at one moment are in the order of their numbers, on both databases by the same indexes.
DROP INDEX responses_settled;
DROP INDEX responses_settled_owner;
CREATE INDEX responses_settled ON responses (approval_timestamp, number) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_settled_owner ON responses (owner_id, approval_timestamp, number) WHERE approval_timestamp IS NOT NULL;
DROP TRIGGER responses_approvers ON responses;
CREATE TRIGGER responses_approvers BEFORE UPDATE OF reviewers_only, self_approval, approvers, quorum ON responses FOR EACH ROW
WHEN (OLD.approval_status IS NOT NULL
  AND (NEW.reviewers_only IS DISTINCT FROM OLD.reviewers_only OR NEW.self_approval IS DISTINCT FROM OLD.self_approval OR NEW.approvers IS DISTINCT FROM OLD.approvers OR NEW.quorum IS DISTINCT FROM OLD.quorum))
EXECUTE FUNCTION refuse('who may approve a request never changes');
-- A program that does not know the count would release a request after one signature.
UPDATE schema_use SET writable_by = 5;
