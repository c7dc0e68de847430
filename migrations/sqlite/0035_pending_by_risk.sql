-- +goose Up

-- What waits, most harm first, then the soonest deadline. The numbers are the places of
-- the levels of risk from the highest; the store orders by the same words.
CREATE INDEX responses_pending_risk ON responses (
  CASE risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END, approval_timeout_at, id
) WHERE approval_status = 'pending';
