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

-- Who may act for whom, once an admin has accepted them.
CREATE TABLE substitutes (
  id            TEXT PRIMARY KEY,
  user_id       TEXT NOT NULL REFERENCES users (id),
  substitute_id TEXT NOT NULL REFERENCES users (id),
  asked_at      DATETIME NOT NULL,
  asked_by      TEXT NOT NULL, -- empty: the command line
  accepted_at   DATETIME,
  accepted_by   TEXT NOT NULL DEFAULT '',
  removed_at    DATETIME,
  CHECK (user_id <> substitute_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX substitutes_in_use ON substitutes (user_id, substitute_id) WHERE removed_at IS NULL;

-- Requests that somebody who may approve them has handed to somebody else.
CREATE TABLE handovers (
  id            TEXT PRIMARY KEY,
  response_id   TEXT NOT NULL REFERENCES responses (id),
  from_user     TEXT NOT NULL REFERENCES users (id),
  to_user       TEXT NOT NULL REFERENCES users (id),
  note          TEXT NOT NULL,
  at            DATETIME NOT NULL,
  taken_back_at DATETIME
) WITHOUT ROWID;
CREATE UNIQUE INDEX handovers_response ON handovers (response_id, from_user, to_user) WHERE taken_back_at IS NULL;

-- Rows of people whom the rule does not ask: they have the request for somebody else.
ALTER TABLE reviewers ADD COLUMN for_others BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX reviewers_for_others ON reviewers (response_id) WHERE for_others;

-- Who voted, and for whom, if the rule does not let them approve in their own right.
ALTER TABLE votes ADD COLUMN behalf_of TEXT NOT NULL DEFAULT '';
ALTER TABLE votes ADD COLUMN behalf_name TEXT NOT NULL DEFAULT '';

-- Who is away, and who acts for them meanwhile.
CREATE TABLE absences (
  id            TEXT PRIMARY KEY,
  user_id       TEXT NOT NULL REFERENCES users (id),
  from_at       DATETIME NOT NULL,
  until_at      DATETIME NOT NULL,
  substitute_id TEXT NOT NULL, -- empty: nobody
  created_at    DATETIME NOT NULL,
  created_by    TEXT NOT NULL, -- empty: the command line
  began_at      DATETIME, -- when what waited went to the substitute
  ended_at      DATETIME,
  CHECK (from_at < until_at AND user_id <> substitute_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX absences_open ON absences (user_id) WHERE ended_at IS NULL;
