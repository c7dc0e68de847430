-- +goose Up
-- When the agent says that it asked, by its own clock; NULL: it did not say.
ALTER TABLE responses ADD COLUMN claimed_at DATETIME;
