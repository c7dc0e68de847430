-- +goose Up
-- What templates of the policy said of a request when it was asked: template is the one
-- that the agent named, checklist (a JSON list of texts) is what whoever approves ticks,
-- template_text is shown beside the request. checked are the numbers of the items that a
-- voter ticked, as a JSON list. Empty where there is none.
ALTER TABLE responses ADD COLUMN template TEXT NOT NULL DEFAULT '';
ALTER TABLE responses ADD COLUMN checklist TEXT NOT NULL DEFAULT '';
ALTER TABLE responses ADD COLUMN template_text TEXT NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN checked TEXT NOT NULL DEFAULT '';
-- +goose StatementBegin
CREATE TRIGGER responses_templates BEFORE UPDATE OF template, checklist, template_text ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.template IS NOT OLD.template OR NEW.checklist IS NOT OLD.checklist OR NEW.template_text IS NOT OLD.template_text)
BEGIN SELECT RAISE(ABORT, 'what templates said of a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER votes_checked BEFORE UPDATE OF checked ON votes WHEN NEW.checked IS NOT OLD.checked
BEGIN SELECT RAISE(ABORT, 'what a voter ticked never changes'); END;
-- +goose StatementEnd
