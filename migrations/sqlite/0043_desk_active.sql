-- +goose Up
-- When somebody was last active on a page of the desk: who is there is sent nothing. It is
-- read by those who send, in whatever process they are.
CREATE TABLE desk_active (
  user_id   TEXT PRIMARY KEY REFERENCES users (id),
  active_at DATETIME NOT NULL
) WITHOUT ROWID;
