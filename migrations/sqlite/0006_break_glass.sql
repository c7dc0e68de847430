-- +goose Up
-- Of a vote that broke glass: whose signatures it did without, JSON (models.Skipped); empty: it broke none.
ALTER TABLE votes ADD COLUMN skipped TEXT NOT NULL DEFAULT '';
-- Who else has looked at that, and what they found.
ALTER TABLE votes ADD COLUMN acknowledged_by TEXT NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN acknowledged_name TEXT NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN acknowledged_at DATETIME;
ALTER TABLE votes ADD COLUMN remark TEXT NOT NULL DEFAULT '';
CREATE INDEX votes_unacknowledged ON votes (at, id) WHERE skipped <> '' AND acknowledged_at IS NULL;
-- +goose StatementBegin
CREATE TRIGGER votes_skipped BEFORE UPDATE OF skipped ON votes WHEN OLD.skipped <> '' AND NEW.skipped IS NOT OLD.skipped
BEGIN SELECT RAISE(ABORT, 'whose signatures were done without never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER votes_acknowledged BEFORE UPDATE OF acknowledged_by, acknowledged_at ON votes
WHEN OLD.acknowledged_at IS NOT NULL
  AND (NEW.acknowledged_by IS NOT OLD.acknowledged_by OR NEW.acknowledged_at IS NOT OLD.acknowledged_at)
BEGIN SELECT RAISE(ABORT, 'who acknowledged a decision never changes'); END;
-- +goose StatementEnd
-- A program that does not know of breaking glass would wait for the signatures that were done without.
UPDATE schema_use SET writable_by = 6;
