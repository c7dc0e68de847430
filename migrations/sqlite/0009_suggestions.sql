-- +goose Up
-- Expand: an older program neither suggests rules nor reads this.
-- Rules that history suggests and that somebody does not want to have suggested again. What is suggested is found each
-- time from the requests.
CREATE TABLE dismissed_suggestions (
  key     TEXT PRIMARY KEY, -- a digest (models/suggest): no part of a call is in it
  note    TEXT NOT NULL, -- why
  by_id   TEXT NOT NULL,
  by_name TEXT NOT NULL,
  at      DATETIME NOT NULL
) WITHOUT ROWID;
