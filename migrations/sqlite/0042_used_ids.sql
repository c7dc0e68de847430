-- +goose Up
-- An id of a call is used up once the call's result was reported, or its answer was taken: a
-- later call with it is another request. So several calls of a conversation may have one id.
DROP INDEX responses_tool_use;
CREATE INDEX responses_tool_use ON responses (conversation_id, tool_use_id, sequence) WHERE tool_use_id IS NOT NULL;

-- Which call of a session an allowing answer to a permission prompt was given to; empty: none
-- has it yet.
CREATE TABLE given_answers (
  response_id TEXT PRIMARY KEY REFERENCES responses (id),
  taker       TEXT NOT NULL
) WITHOUT ROWID;
