-- +goose Up
-- Lists as people narrowed them, kept under a name. A view grants nothing: the list judges each time what its reader
-- may see.
CREATE TABLE saved_views (
  user_id    text NOT NULL REFERENCES users (id),
  list       text NOT NULL, -- history, audit or everything
  name       text NOT NULL,
  query      text NOT NULL, -- of the list's address, without days
  created_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, list, name)
);
