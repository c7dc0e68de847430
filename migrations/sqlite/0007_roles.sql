-- +goose Up
-- Roles besides reviewer and admin: a policy editor drafts the policy and does not save it, an auditor sees everything
-- and changes nothing. The column is made again, for its list of roles cannot be changed.
DROP INDEX users_enabled_admins;
ALTER TABLE users RENAME COLUMN role TO old_role;
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT '';
UPDATE users SET role = old_role;
ALTER TABLE users DROP COLUMN old_role;
ALTER TABLE users ADD CONSTRAINT users_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
-- Whether an admin is left.
CREATE INDEX users_enabled_admins ON users (id) WHERE role = 'admin' AND disabled_at IS NULL;
ALTER TABLE invites RENAME COLUMN role TO old_role;
ALTER TABLE invites ADD COLUMN role TEXT NOT NULL DEFAULT '';
UPDATE invites SET role = old_role;
ALTER TABLE invites DROP COLUMN old_role;
ALTER TABLE invites ADD CONSTRAINT invites_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
-- Who agreed to a version besides its author, JSON (models.PolicySigned); empty: nobody else.
ALTER TABLE policies ADD COLUMN signed TEXT NOT NULL DEFAULT '';
-- The change of the policy that waits for admins to agree, or the last one that did: one row.
CREATE TABLE policy_proposals (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  document     TEXT NOT NULL,
  digest       TEXT NOT NULL, -- of the document
  note         TEXT NOT NULL,
  base         INTEGER NOT NULL REFERENCES policies (version), -- what it changes
  by_id        TEXT NOT NULL,
  by_name      TEXT NOT NULL,
  at           DATETIME NOT NULL,
  signed       TEXT NOT NULL, -- the admins who have agreed, as in policies
  alone_at     DATETIME, -- since when one of them waits to save it alone
  alone_by     TEXT NOT NULL,
  alone_name   TEXT NOT NULL,
  alone_reason TEXT NOT NULL,
  outcome      TEXT NOT NULL CHECK (outcome IN ('', 'saved', 'rejected', 'taken_back')),
  ended_name   TEXT NOT NULL,
  ended_at     DATETIME,
  ended_text   TEXT NOT NULL -- why it was rejected
);
-- A program that does not know an auditor would let one decide.
UPDATE schema_use SET writable_by = 7;
