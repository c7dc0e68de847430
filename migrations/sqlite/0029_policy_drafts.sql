-- +goose Up
-- What an admin is writing of the policy, one for each. It has no effect before it is saved
-- as a version, and may say what is not valid yet.
CREATE TABLE policy_drafts (
  user_id       TEXT PRIMARY KEY REFERENCES users (id),
  base          INTEGER NOT NULL REFERENCES policies (version), -- what it began with
  revision      INTEGER NOT NULL, -- counts the times that it was kept
  document      TEXT NOT NULL,
  previous      TEXT NOT NULL, -- what it was before, to go back to; empty: nothing
  previous_base INTEGER NOT NULL,
  changed_at    DATETIME NOT NULL
) WITHOUT ROWID;
