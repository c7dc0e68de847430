-- +goose Up
-- What became of the requests of each month and day and of the present day's hours, summed for the page Insights. All of it is made from other tables
-- (models/insights), and nothing is decided by it.
CREATE TABLE insights (
  span        TEXT NOT NULL CHECK (span IN ('', 'hour', 'day', 'month')), -- hours are those of the present day; empty: the one row that counts, in last_number, what outdated others
  begins_at   DATETIME NOT NULL,
  about       TEXT NOT NULL, -- agent:ID, tool:NAME, rule:NAME, person:ID; empty: all
  ends_at     DATETIME NOT NULL,
  zone        TEXT NOT NULL, -- whose days they are
  figures     TEXT NOT NULL, -- JSON (insights.Figures); empty: it is to be summed again
  waiting     TEXT NOT NULL DEFAULT '', -- JSON, of an hour or day of all: the numbers of the requests that waited at its end
  last_number INTEGER NOT NULL DEFAULT 0, -- of an hour or day of all: of the last response until its end
  PRIMARY KEY (span, begins_at, about)
) WITHOUT ROWID;
CREATE INDEX insights_outdated ON insights (begins_at) WHERE figures = '' AND about = '';
-- What was asked on a day although it had come before, as a report, and what the built-in agent spent. Other asks are found
-- by their numbers: an index of all would cost each of them 5 %.
CREATE INDEX responses_asked_later ON responses (approval_requested_at) WHERE approval_requested_at <> created_at;
CREATE INDEX turns_at ON turns (at);
-- A program that does not know of it would remove contents and leave the reasons that were summed.
UPDATE schema_use SET writable_by = 8;
