-- +goose Up
-- A list of what was routed to somebody is in the order of asking: with the number of the
-- request a page of it is read along an index, and not sorted out of all of them.
ALTER TABLE reviewers ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE reviewers SET number = (SELECT number FROM responses r WHERE r.id = reviewers.response_id);
CREATE INDEX reviewers_number ON reviewers (user_id, number);
