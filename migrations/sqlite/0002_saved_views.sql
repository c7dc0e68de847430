-- +goose Up
-- Lists as people narrowed them, kept under a name. A view grants nothing: the list judges each time what its reader
-- may see.
CREATE TABLE saved_views (
  user_id    TEXT NOT NULL REFERENCES users (id),
  list       TEXT NOT NULL, -- history, audit or everything
  name       TEXT NOT NULL,
  query      TEXT NOT NULL, -- of the list's address, without days
  created_at DATETIME NOT NULL,
  PRIMARY KEY (user_id, list, name)
) WITHOUT ROWID;
