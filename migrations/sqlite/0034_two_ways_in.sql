-- +goose Up
-- A call that comes in by two ways is one request: what comes without a key is looked for
-- by its digest among what waits of its agent.
CREATE INDEX responses_pending_digest ON responses (agent_id, digest) WHERE approval_status = 'pending';
-- What an agent says that the call will do, in its own words: shown to people as its claim.
ALTER TABLE responses ADD COLUMN preview TEXT NOT NULL DEFAULT '';
