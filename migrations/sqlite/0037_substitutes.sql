-- +goose Up
-- How many steps of its escalation a request has taken, and whether its rule forbids
-- substitutes.
ALTER TABLE responses ADD COLUMN escalation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE responses ADD COLUMN no_substitutes BOOLEAN NOT NULL DEFAULT FALSE;

-- When further people are asked about requests that wait. A row goes when its time has come,
-- or with the end of its request.
CREATE TABLE escalations (
  response_id TEXT NOT NULL REFERENCES responses (id),
  step        INTEGER NOT NULL,
  due_at      DATETIME NOT NULL,
  paused_at   DATETIME, -- since when a question stops the clock
  PRIMARY KEY (response_id, step)
) WITHOUT ROWID;
CREATE INDEX escalations_due ON escalations (due_at) WHERE paused_at IS NULL;

-- +goose StatementBegin
CREATE TRIGGER responses_substitutes BEFORE UPDATE OF no_substitutes ON responses
WHEN OLD.approval_status IS NOT NULL AND NEW.no_substitutes IS NOT OLD.no_substitutes
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_escalation BEFORE UPDATE OF escalation ON responses
WHEN OLD.approval_status IS NOT 'pending' OR NEW.escalation <= OLD.escalation
BEGIN SELECT RAISE(ABORT, 'a step of an escalation is taken once, while the request waits'); END;
-- +goose StatementEnd
