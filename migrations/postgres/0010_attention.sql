-- +goose Up
-- Expand: an older program asks as if nobody were busy, and shows the requests of a batch one by one.
-- What happened to a request because everybody who would be asked was busy; empty: nothing did.
ALTER TABLE responses ADD COLUMN when_busy text NOT NULL DEFAULT '' CHECK (when_busy = '' OR when_busy = 'expire' OR when_busy = 'escalate' OR when_busy = 'batch');
CREATE TRIGGER responses_when_busy BEFORE UPDATE OF when_busy ON responses FOR EACH ROW
WHEN (OLD.approval_status IS NOT NULL AND NEW.when_busy IS DISTINCT FROM OLD.when_busy)
EXECUTE FUNCTION refuse('what happened to a request because all were busy never changes');
-- What of it waits together, by deadline.
CREATE INDEX responses_together ON responses (approval_timeout_at, id) WHERE approval_status = 'pending' AND when_busy = 'batch';
-- Agents that ask for more than people can look at. Their owners were told when it began. A row goes when the agent has asked no more for an hour, and little waits.
CREATE TABLE floods (
  agent_id text PRIMARY KEY REFERENCES agents (id),
  began_at timestamptz NOT NULL,
  above    bigint NOT NULL, -- of how many requests that wait the inbox makes one line
  seen_at  timestamptz NOT NULL -- to the minute, when it last asked while so many waited
);
-- What a person decided last.
CREATE INDEX votes_user ON votes (user_id, at);
