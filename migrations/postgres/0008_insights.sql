-- +goose Up
-- What became of the requests of each month and day and of the present day's hours, summed for the page Insights. All of it is made from other tables
-- (models/insights), and nothing is decided by it.
CREATE TABLE insights (
  span        text NOT NULL CHECK (span IN ('', 'hour', 'day', 'month')), -- hours are those of the present day; empty: the one row that counts, in last_number, what outdated others
  begins_at   timestamptz NOT NULL,
  about       text NOT NULL, -- agent:ID, tool:NAME, rule:NAME, person:ID; empty: all
  ends_at     timestamptz NOT NULL,
  zone        text NOT NULL, -- whose days they are
  figures     text NOT NULL, -- JSON (insights.Figures); empty: it is to be summed again
  waiting     text NOT NULL DEFAULT '', -- JSON, of an hour or day of all: the numbers of the requests that waited at its end
  last_number bigint NOT NULL DEFAULT 0, -- of an hour or day of all: of the last response until its end
  PRIMARY KEY (span, begins_at, about)
);
CREATE INDEX insights_outdated ON insights (begins_at) WHERE figures = '' AND about = '';
-- What was asked on a day although it had come before, as a report, and what the built-in agent spent. Other asks are found
-- by their numbers: an index of all would cost each of them 5 %.
CREATE INDEX responses_asked_later ON responses (approval_requested_at) WHERE approval_requested_at <> created_at;
CREATE INDEX turns_at ON turns (at);
-- A program that does not know of it would remove contents and leave the reasons that were summed.
UPDATE schema_use SET writable_by = 8;
