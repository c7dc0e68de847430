-- +goose Up
-- Expand: an older program neither suggests rules nor reads this.
-- Rules that history suggests and that somebody does not want to have suggested again. What is suggested is found each
-- time from the requests.
CREATE TABLE dismissed_suggestions (
  key     text PRIMARY KEY, -- a digest (models/suggest): no part of a call is in it
  note    text NOT NULL, -- why
  by_id   text NOT NULL,
  by_name text NOT NULL,
  at      timestamptz NOT NULL
);
