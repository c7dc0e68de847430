-- +goose Up
-- Expand: an older program asks as if nobody were busy, and shows the requests of a batch one by one.
-- What happened to a request because everybody who would be asked was busy; empty: nothing did.
ALTER TABLE responses ADD COLUMN when_busy TEXT NOT NULL DEFAULT '' CHECK (when_busy = '' OR when_busy = 'expire' OR when_busy = 'escalate' OR when_busy = 'batch');
-- +goose StatementBegin
CREATE TRIGGER responses_when_busy BEFORE UPDATE OF when_busy ON responses
WHEN OLD.approval_status IS NOT NULL AND NEW.when_busy IS NOT OLD.when_busy
BEGIN SELECT RAISE(ABORT, 'what happened to a request because all were busy never changes'); END;
-- +goose StatementEnd
-- What of it waits together, by deadline.
CREATE INDEX responses_together ON responses (approval_timeout_at, id) WHERE approval_status = 'pending' AND when_busy = 'batch';
-- A call that was reported may be asked about while everybody is busy.
-- +goose StatementBegin
DROP TRIGGER responses_move;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses
WHEN NEW.approval_status IS NOT OLD.approval_status
  -- IS: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS 'pending'
    AND (NEW.approval_status IS 'approved' OR NEW.approval_status IS 'rejected' OR NEW.approval_status IS 'expired'
      OR NEW.approval_status IS 'cancelled' OR NEW.approval_status IS 'resolved'))
  AND NOT (OLD.approval_status IS NULL AND (NEW.approval_status IS 'pending' OR NEW.approval_status IS 'rejected'
    OR NEW.approval_status IS 'expired' AND NEW.when_busy IS 'expire'))
BEGIN SELECT RAISE(ABORT, 'an approval moves from NULL to pending, rejected, or expired where all are busy, and from pending once'); END;
-- +goose StatementEnd
-- Agents that ask for more than people can look at. Their owners were told when it began. A row goes when the agent has asked no more for an hour, and little waits.
CREATE TABLE floods (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  began_at DATETIME NOT NULL,
  above    INTEGER NOT NULL, -- of how many requests that wait the inbox makes one line
  seen_at  DATETIME NOT NULL -- to the minute, when it last asked while so many waited
) WITHOUT ROWID;
-- What a person decided last. Only a query that says the same of the verdict walks it: others know the request.
CREATE INDEX votes_user ON votes (user_id, at) WHERE verdict <> '';
