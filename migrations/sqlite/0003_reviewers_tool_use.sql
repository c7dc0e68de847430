-- +goose Up

-- A person finds a call by the agent's name for it among what was routed to
-- them, however much that is.
ALTER TABLE reviewers ADD COLUMN tool_use_id TEXT;
UPDATE reviewers SET tool_use_id = (SELECT r.tool_use_id FROM responses r WHERE r.id = response_id);
CREATE INDEX reviewers_tool_use ON reviewers (user_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
