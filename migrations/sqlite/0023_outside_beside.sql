-- +goose Up
-- What another system sends beside the arguments of a call, as JSON: people read it
-- before they decide.
ALTER TABLE outside_approvals ADD COLUMN beside TEXT NOT NULL DEFAULT '';
