-- +goose Up
-- Roles besides reviewer and admin: a policy editor drafts the policy and does not save it, an auditor sees everything
-- and changes nothing.
ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users ALTER COLUMN role SET DEFAULT '';
ALTER TABLE users ADD CONSTRAINT users_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
ALTER TABLE invites DROP CONSTRAINT invites_role_check;
ALTER TABLE invites ALTER COLUMN role SET DEFAULT '';
ALTER TABLE invites ADD CONSTRAINT invites_role CHECK (role IN ('reviewer', 'admin', 'policy_editor', 'auditor'));
-- Who agreed to a version besides its author, JSON (models.PolicySigned); empty: nobody else.
ALTER TABLE policies ADD COLUMN signed text NOT NULL DEFAULT '';
-- The change of the policy that waits for admins to agree, or the last one that did: one row.
CREATE TABLE policy_proposals (
  id           bigint PRIMARY KEY CHECK (id = 1),
  document     text NOT NULL,
  digest       text NOT NULL, -- of the document
  note         text NOT NULL,
  base         bigint NOT NULL REFERENCES policies (version), -- what it changes
  by_id        text NOT NULL,
  by_name      text NOT NULL,
  at           timestamptz NOT NULL,
  signed       text NOT NULL, -- the admins who have agreed, as in policies
  alone_at     timestamptz, -- since when one of them waits to save it alone
  alone_by     text NOT NULL,
  alone_name   text NOT NULL,
  alone_reason text NOT NULL,
  outcome      text NOT NULL CHECK (outcome IN ('', 'saved', 'rejected', 'taken_back')),
  ended_name   text NOT NULL,
  ended_at     timestamptz,
  ended_text   text NOT NULL -- why it was rejected
);
-- A program that does not know an auditor would let one decide.
UPDATE schema_use SET writable_by = 7;
