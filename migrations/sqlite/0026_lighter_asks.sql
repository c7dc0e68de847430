-- +goose Up
-- What every ask pays for, and what it is no longer worth.
--
-- The program checks itself how an approval begins, and doctor compares each row with the
-- entry that began it. As a trigger the check had every INSERT keep an undo journal.
DROP TRIGGER responses_begin;
-- An owner's requests are those of their agents, a few, each with an index of its own.
DROP INDEX responses_owner;
