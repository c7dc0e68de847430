-- +goose Up
-- New upstreams reach no unique-local and no metadata address unless it is allowed by name. Those from before keep what
-- they could reach.
ALTER TABLE upstreams ADD COLUMN checked_address BOOLEAN NOT NULL DEFAULT FALSE;
