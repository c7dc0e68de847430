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
-- A program that does not know an auditor would let one decide.
UPDATE schema_use SET writable_by = 7;
