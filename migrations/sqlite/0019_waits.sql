-- +goose Up
-- A conversation with a pending request is shown as waiting_input without a change of its own: status is what it is
-- otherwise. Where an earlier version stored waiting_input because of a request that is pending still, this says so, and
-- the end of that request sets it to running.
ALTER TABLE conversations ADD COLUMN waits_for_request BOOLEAN NOT NULL DEFAULT FALSE CHECK (waits_for_request IN (FALSE, TRUE));
UPDATE conversations SET waits_for_request = TRUE WHERE status = 'waiting_input' AND EXISTS (
  SELECT 1 FROM responses r WHERE r.conversation_id = conversations.id AND r.approval_status = 'pending'
  AND (r.kind IN ('proposal', 'budget') OR r.upstream_id IS NOT NULL));
