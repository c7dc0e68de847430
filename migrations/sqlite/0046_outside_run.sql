-- +goose Up
-- The run for which another system asks, where that is not the run of the conversation; NULL: it
-- is, or no other system asks.
ALTER TABLE responses ADD COLUMN outside_run TEXT;
