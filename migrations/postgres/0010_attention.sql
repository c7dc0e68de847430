-- +goose Up
-- Expand: an older program asks as if nobody were busy, and shows the requests of a batch one by one.
-- What happened to a request because everybody who would be asked was busy; empty: nothing did.
ALTER TABLE responses ADD COLUMN when_busy text NOT NULL DEFAULT '' CHECK (when_busy = '' OR when_busy = 'expire' OR when_busy = 'escalate' OR when_busy = 'batch');
CREATE TRIGGER responses_when_busy BEFORE UPDATE OF when_busy ON responses FOR EACH ROW
WHEN (OLD.approval_status IS NOT NULL AND NEW.when_busy IS DISTINCT FROM OLD.when_busy)
EXECUTE FUNCTION refuse('what happened to a request because all were busy never changes');
-- What of it waits together, by deadline.
CREATE INDEX responses_together ON responses (approval_timeout_at, id) WHERE approval_status = 'pending' AND when_busy = 'batch';
-- A call that was reported may be asked about while everybody is busy.
DROP TRIGGER responses_move ON responses;
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses FOR EACH ROW
WHEN (NEW.approval_status IS DISTINCT FROM OLD.approval_status
  -- IS DISTINCT FROM: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS NOT DISTINCT FROM 'pending'
    AND (NEW.approval_status IS NOT DISTINCT FROM 'approved' OR NEW.approval_status IS NOT DISTINCT FROM 'rejected' OR NEW.approval_status IS NOT DISTINCT FROM 'expired'
      OR NEW.approval_status IS NOT DISTINCT FROM 'cancelled' OR NEW.approval_status IS NOT DISTINCT FROM 'resolved'))
  AND NOT (OLD.approval_status IS NULL AND (NEW.approval_status IS NOT DISTINCT FROM 'pending' OR NEW.approval_status IS NOT DISTINCT FROM 'rejected'
    OR NEW.approval_status IS NOT DISTINCT FROM 'expired' AND NEW.when_busy IS NOT DISTINCT FROM 'expire')))
EXECUTE FUNCTION refuse('an approval moves from NULL to pending, rejected, or expired where all are busy, and from pending once');
-- Agents that ask for more than people can look at. Their owners were told when it began. A row goes when the agent has asked no more for an hour, and little waits.
CREATE TABLE floods (
  agent_id text PRIMARY KEY REFERENCES agents (id),
  began_at timestamptz NOT NULL,
  above    bigint NOT NULL, -- of how many requests that wait the inbox makes one line
  seen_at  timestamptz NOT NULL -- to the minute, when it last asked while so many waited
);
-- What a person decided last. Only a query that says the same of the verdict walks it: others know the request.
CREATE INDEX votes_user ON votes (user_id, at) WHERE verdict <> '';
