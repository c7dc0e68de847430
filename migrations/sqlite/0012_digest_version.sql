-- +goose Up
-- What a row's digest covers: 1 for all that stands, 2 for what is stored from now on (models.DigestVersion).
ALTER TABLE responses ADD COLUMN digest_version INTEGER NOT NULL DEFAULT 1 CHECK (digest_version >= 1);

-- What a digest covers never changes: of a question its text, of a proposal the budget that it wishes for.
-- +goose StatementBegin
CREATE TRIGGER responses_digested BEFORE UPDATE OF digest_version, description, energy_budget ON responses
WHEN NEW.digest_version IS NOT OLD.digest_version
  OR NEW.kind = 'question' AND NEW.description IS NOT OLD.description
  OR NEW.kind = 'proposal' AND NEW.energy_budget IS NOT OLD.energy_budget
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
