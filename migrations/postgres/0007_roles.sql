-- +goose Up
-- Roles besides reviewer and admin: a policy editor drafts the policy and does not save it, an auditor sees everything
-- and changes nothing.
ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users ALTER COLUMN role SET DEFAULT '';
ALTER TABLE users ADD CONSTRAINT users_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
ALTER TABLE invites DROP CONSTRAINT invites_role_check;
ALTER TABLE invites ALTER COLUMN role SET DEFAULT '';
ALTER TABLE invites ADD CONSTRAINT invites_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
-- A program that does not know an auditor would let one decide.
UPDATE schema_use SET writable_by = 7;
