-- +goose Up
-- What each ask and each outcome wrote, a page for each.
--
-- What waits is in one index by risk and deadline; by deadline alone it is merged from the
-- levels of risk, which are four.
DROP INDEX responses_pending;
-- A call without a key is looked for among those that have one.
DROP INDEX responses_pending_digest;
CREATE INDEX responses_pending_digest ON responses (agent_id, digest) WHERE approval_status = 'pending' AND tool_use_id IS NOT NULL;
