-- +goose Up
-- Named sets of people, whom a rule may name wherever it names a reviewer.
CREATE TABLE groups (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  note       TEXT NOT NULL DEFAULT '',
  created_at DATETIME NOT NULL,
  removed_at DATETIME
) WITHOUT ROWID;
CREATE UNIQUE INDEX groups_in_use ON groups (name) WHERE removed_at IS NULL;

CREATE TABLE group_members (
  id        TEXT PRIMARY KEY,
  group_id  TEXT NOT NULL REFERENCES groups (id),
  user_id   TEXT NOT NULL REFERENCES users (id),
  joined_at DATETIME NOT NULL,
  left_at   DATETIME
) WITHOUT ROWID;
CREATE UNIQUE INDEX group_members_in ON group_members (group_id, user_id) WHERE left_at IS NULL;
CREATE INDEX group_members_user ON group_members (user_id) WHERE left_at IS NULL;

-- What waits for a group, for whoever joins or leaves it. Names of members are quoted in
-- the list, so that no e-mail looks like one.
CREATE INDEX responses_pending_groups ON responses (approvers, id) WHERE approval_status = 'pending' AND instr(approvers, '"group":') > 0;
CREATE INDEX votes_waiting ON votes (response_id) WHERE waits_for <> '';
