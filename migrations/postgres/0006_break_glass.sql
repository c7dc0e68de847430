-- +goose Up
-- Of a vote that broke glass: whose signatures it did without, JSON (models.Skipped); empty: it broke none.
ALTER TABLE votes ADD COLUMN skipped text NOT NULL DEFAULT '';
-- Who else has looked at that, and what they found.
ALTER TABLE votes ADD COLUMN acknowledged_by text NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN acknowledged_name text NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN acknowledged_at timestamptz;
ALTER TABLE votes ADD COLUMN remark text NOT NULL DEFAULT '';
CREATE INDEX votes_unacknowledged ON votes (at, id) WHERE skipped <> '' AND acknowledged_at IS NULL;
CREATE TRIGGER votes_skipped BEFORE UPDATE OF skipped ON votes FOR EACH ROW
WHEN (OLD.skipped <> '' AND NEW.skipped IS DISTINCT FROM OLD.skipped)
EXECUTE FUNCTION refuse('whose signatures were done without never changes');
CREATE TRIGGER votes_acknowledged BEFORE UPDATE OF acknowledged_by, acknowledged_at ON votes FOR EACH ROW
WHEN (OLD.acknowledged_at IS NOT NULL
  AND (NEW.acknowledged_by IS DISTINCT FROM OLD.acknowledged_by OR NEW.acknowledged_at IS DISTINCT FROM OLD.acknowledged_at))
EXECUTE FUNCTION refuse('who acknowledged a decision never changes');
-- A program that does not know of breaking glass would wait for the signatures that were done without.
UPDATE schema_use SET writable_by = 6;
