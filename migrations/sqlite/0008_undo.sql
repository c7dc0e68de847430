-- +goose Up
-- Of an approval that was held in an undo window: when that ends, and the change
-- of the conversation's budget that came with it, which is made with the release
-- and not before.
ALTER TABLE votes ADD COLUMN undo_until DATETIME;
ALTER TABLE votes ADD COLUMN budget_set INTEGER;
ALTER TABLE votes ADD COLUMN budget_delta INTEGER;
