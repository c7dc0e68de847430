-- +goose Up
-- What a request would do, in one sentence: made once, from all that was asked. Empty: of a row
-- from before, whose sentence is made when it is read.
ALTER TABLE responses ADD COLUMN headline TEXT NOT NULL DEFAULT '';
-- +goose StatementBegin
CREATE TRIGGER responses_headline BEFORE UPDATE OF headline ON responses
WHEN NEW.headline IS NOT OLD.headline AND (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.headline = NEW.removed)
BEGIN SELECT RAISE(ABORT, 'the headline of a request never changes'); END;
-- +goose StatementEnd
