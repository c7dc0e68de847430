-- +goose Up
-- What was approved before, to know it when it is asked again. Only approvals of
-- high and critical risk and edited inputs are written here, so that no other
-- decision writes more than it did.
CREATE INDEX responses_approved_harm ON responses (agent_id, digest, approval_timestamp)
  WHERE approval_status = 'approved' AND risk IN ('high', 'critical');
CREATE INDEX votes_edited ON votes (input_digest, at) WHERE input_digest IS NOT NULL;
