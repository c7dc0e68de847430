-- +goose Up
-- Browsers in which a person has signed in before: guesses that others make at the account do not slow them.
CREATE TABLE known_devices (
  secret_hash BLOB PRIMARY KEY,
  user_id     TEXT NOT NULL REFERENCES users (id),
  created_at  DATETIME NOT NULL,
  used_at     DATETIME NOT NULL
) WITHOUT ROWID;
CREATE INDEX known_devices_user ON known_devices (user_id, used_at);
