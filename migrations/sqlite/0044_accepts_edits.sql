-- +goose Up
-- Whether who asked takes another input than it sent: it reads decision.input. A client that
-- reads only that something was approved would run what it holds, so that its requests take no
-- edit. Of requests before there was this column nobody knows: they take none.
ALTER TABLE responses ADD COLUMN accepts_edits BOOLEAN NOT NULL DEFAULT FALSE;

-- A call that was only reported gets it when it is asked about.
-- +goose StatementBegin
CREATE TRIGGER responses_accepts_edits BEFORE UPDATE OF accepts_edits ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '') AND NEW.accepts_edits IS NOT OLD.accepts_edits
BEGIN SELECT RAISE(ABORT, 'whether a client takes edits never changes'); END;
-- +goose StatementEnd
