-- +goose Up
-- Where people and groups are told of what waits for them. A channel that was removed keeps
-- its row, without the target: what was told by it stays explained.
CREATE TABLE channels (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL, -- empty: a group's
  group_id       TEXT NOT NULL, -- empty: a person's
  kind           TEXT NOT NULL CHECK (kind IN ('email', 'web_push', 'ntfy', 'slack', 'webhook')),
  label          TEXT NOT NULL,
  created_at     DATETIME NOT NULL,
  verified_at    DATETIME,
  disabled_at    DATETIME,
  removed_at     DATETIME,
  session_id     TEXT NOT NULL DEFAULT '', -- of the browser that a web push channel belongs to
  target_sealed  BLOB,
  address_digest TEXT NOT NULL,
  code_sealed    BLOB,
  code_expires   DATETIME,
  code_tries     INTEGER NOT NULL DEFAULT 0,
  told_at        DATETIME,
  failing_since  DATETIME,
  last_sent_at   DATETIME,
  last_class     TEXT NOT NULL DEFAULT '',
  last_status    INTEGER NOT NULL DEFAULT 0,
  failures       INTEGER NOT NULL DEFAULT 0,
  first_failure  DATETIME,
  CHECK ((user_id = '') <> (group_id = '')),
  CHECK (removed_at IS NULL OR target_sealed IS NULL)
) WITHOUT ROWID;
CREATE INDEX channels_in_use ON channels (user_id || group_id) WHERE removed_at IS NULL;
CREATE INDEX channels_browsers ON channels (address_digest) WHERE removed_at IS NULL AND kind = 'web_push';

CREATE TABLE notification_settings (
  user_id                 TEXT PRIMARY KEY REFERENCES users (id),
  moments                 TEXT NOT NULL, -- by risk
  digest_at               TEXT NOT NULL,
  quiet_from              TEXT NOT NULL,
  quiet_to                TEXT NOT NULL,
  zone                    TEXT NOT NULL,
  critical_breaks_through BOOLEAN NOT NULL
) WITHOUT ROWID;

-- Hosts to which channels may send.
CREATE TABLE notification_hosts (
  host     TEXT PRIMARY KEY,
  added_at DATETIME NOT NULL,
  added_by TEXT NOT NULL, -- empty: the command line
  by_name  TEXT NOT NULL
) WITHOUT ROWID;

-- Codes that were sent in the last hour, for the limits.
CREATE TABLE notification_codes (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL,
  address_digest TEXT NOT NULL,
  at             DATETIME NOT NULL
) WITHOUT ROWID;
CREATE INDEX notification_codes_at ON notification_codes (at);

-- Of what somebody is to be told, and when: one row for each person or group and moment.
CREATE TABLE notices (
  response_id TEXT NOT NULL, -- empty: of the digest
  recipient   TEXT NOT NULL, -- a person or a group
  moment      TEXT NOT NULL CHECK (moment IN ('waiting', 'unseen', 'half', 'tenth', 'digest')),
  due_at      DATETIME NOT NULL,
  PRIMARY KEY (response_id, recipient, moment)
) WITHOUT ROWID;
CREATE INDEX notices_due ON notices (recipient, due_at);

-- Messages on their way: a row goes when its message was sent or given up.
CREATE TABLE notice_sends (
  id          TEXT PRIMARY KEY,
  channel_id  TEXT NOT NULL REFERENCES channels (id),
  kind        TEXT NOT NULL,
  response_id TEXT NOT NULL, -- empty: of no single request
  about       TEXT NOT NULL DEFAULT '', -- the channel that fails
  at          DATETIME NOT NULL,
  due_at      DATETIME NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX notice_sends_due ON notice_sends (due_at);
CREATE INDEX notice_sends_channel ON notice_sends (channel_id, due_at);
CREATE INDEX notice_sends_response ON notice_sends (response_id) WHERE response_id <> '';

-- Who was told of a request, and by which channel.
CREATE TABLE notified (
  response_id TEXT NOT NULL,
  channel_id  TEXT NOT NULL REFERENCES channels (id),
  first_at    DATETIME NOT NULL,
  burst       BOOLEAN NOT NULL, -- only among others
  waiting     BOOLEAN NOT NULL DEFAULT TRUE, -- the request is pending
  sent_at     DATETIME, -- when the first message about it went out
  PRIMARY KEY (response_id, channel_id)
) WITHOUT ROWID;
CREATE INDEX notified_waiting ON notified (channel_id) WHERE waiting;

-- Who has looked at a request, and when they were last active on its page.
CREATE TABLE seen (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id),
  first_at    DATETIME NOT NULL,
  active_at   DATETIME NOT NULL,
  PRIMARY KEY (response_id, user_id)
) WITHOUT ROWID;

-- Requests whose headline messages may carry, as their rule said when they were asked.
CREATE TABLE told_headlines (
  response_id TEXT PRIMARY KEY REFERENCES responses (id)
) WITHOUT ROWID;
