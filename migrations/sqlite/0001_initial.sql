-- +goose Up

-- The whole schema, table by table: what a table is for, its columns (with a word where the
-- name is not enough), its indexes (with the question that each answers, where that is not
-- plain), and the triggers that keep its rules in the database as well.
--
-- Times are UTC. Names ending in _id name a row of another table. A column that names a
-- response mostly has no foreign key: with one, every ask searches that table for rows that
-- wait for it, and responses are never deleted. What is removed (column removed) stands as a
-- mark, "removed on 2026-11-22, by …", in the place of its contents; NULL: nothing is removed.
-- CHECKs and triggers of responses, votes and ledger compare value by value: for a list of more
-- than two SQLite makes a table in memory each time, which costs an ask a fifth of its time.

-- === People and agents ===

-- People: reviewers decide, admins also manage. One who is disabled can neither sign in nor
-- decide; nobody is deleted.
CREATE TABLE users (
  id            TEXT PRIMARY KEY,
  email         TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name          TEXT NOT NULL,
  role          TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  password_hash TEXT NOT NULL,
  created_at    DATETIME NOT NULL,
  disabled_at   DATETIME
) WITHOUT ROWID;
-- Whether an admin is left.
CREATE INDEX users_enabled_admins ON users (id) WHERE role = 'admin' AND disabled_at IS NULL;
-- Those who can no longer decide, for requests that wait for nobody else.
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;

-- One-time links with which the first admin sets a password: the hash of each secret.
CREATE TABLE setup_links (
  secret_hash BLOB PRIMARY KEY,
  created_at  DATETIME NOT NULL,
  used_at     DATETIME
) WITHOUT ROWID;

-- One-time links with which people join: the hash of each secret.
CREATE TABLE invites (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  email        TEXT NOT NULL COLLATE NOCASE,
  role         TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  invited_by   TEXT REFERENCES users (id), -- NULL: the command line
  inviter_name TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  used_at      DATETIME,
  withdrawn_at DATETIME
) WITHOUT ROWID;
CREATE INDEX invites_open ON invites (id) WHERE used_at IS NULL AND withdrawn_at IS NULL;

-- Sessions of people who have signed in with a browser.
CREATE TABLE web_sessions (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  user_id      TEXT NOT NULL REFERENCES users (id),
  created_at   DATETIME NOT NULL,
  last_seen_at DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  address      TEXT NOT NULL,
  user_agent   TEXT NOT NULL,
  revoked_at   DATETIME
) WITHOUT ROWID;
CREATE INDEX web_sessions_user ON web_sessions (user_id) WHERE revoked_at IS NULL;
-- Those that have ended, to be deleted.
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- Browsers in which a person has signed in before: guesses that others make at the account do not
-- slow them.
CREATE TABLE known_devices (
  secret_hash BLOB PRIMARY KEY,
  user_id     TEXT NOT NULL REFERENCES users (id),
  created_at  DATETIME NOT NULL,
  used_at     DATETIME NOT NULL
) WITHOUT ROWID;
-- The oldest of a person, to be deleted when there are too many.
CREATE INDEX known_devices_user ON known_devices (user_id, used_at);

-- Sign-ins that failed in the last minutes. They slow further guesses, also after a restart.
CREATE TABLE signin_failures (
  id      INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  at      DATETIME NOT NULL
);
-- How many guesses one address made at one account.
CREATE INDEX signin_failures_pair ON signin_failures (account, address, at);
CREATE INDEX signin_failures_address ON signin_failures (address, at);
-- Those that no longer count, to be deleted.
CREATE INDEX signin_failures_at ON signin_failures (at);

-- Programs that ask. Each belongs to a person.
CREATE TABLE agents (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL REFERENCES users (id),
  name        TEXT NOT NULL,
  created_at  DATETIME NOT NULL,
  disabled_at DATETIME,
  system      BOOLEAN NOT NULL DEFAULT FALSE, -- the built-in agent of this person: it has no tokens, and its name is nobody else's
  UNIQUE (owner_id, name)
) WITHOUT ROWID;

-- Bearer tokens of agents and people: the hash of each secret.
CREATE TABLE tokens (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  hint         TEXT NOT NULL, -- how the secret begins, to tell tokens apart
  scope        TEXT NOT NULL CHECK (scope IN ('agent', 'reviewer', 'admin')),
  user_id      TEXT NOT NULL REFERENCES users (id),
  agent_id     TEXT REFERENCES agents (id),
  name         TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME,
  revoked_at   DATETIME,
  last_used_at DATETIME,
  CHECK ((scope = 'agent') = (agent_id IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX tokens_user ON tokens (user_id, created_at);
CREATE INDEX tokens_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;

-- Named sets of people. A rule may name one wherever it names a reviewer.
CREATE TABLE groups (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  note       TEXT NOT NULL DEFAULT '',
  created_at DATETIME NOT NULL,
  removed_at DATETIME
) WITHOUT ROWID;
CREATE UNIQUE INDEX groups_in_use ON groups (name) WHERE removed_at IS NULL;

-- Who is or was in a group.
CREATE TABLE group_members (
  id        TEXT PRIMARY KEY,
  group_id  TEXT NOT NULL REFERENCES groups (id),
  user_id   TEXT NOT NULL REFERENCES users (id),
  joined_at DATETIME NOT NULL,
  left_at   DATETIME
) WITHOUT ROWID;
CREATE UNIQUE INDEX group_members_in ON group_members (group_id, user_id) WHERE left_at IS NULL;
CREATE INDEX group_members_user ON group_members (user_id) WHERE left_at IS NULL;

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

-- === Policy ===

-- Every version of the policy. The last one is in force; requests name the version that judged
-- them.
CREATE TABLE policies (
  version     INTEGER PRIMARY KEY,
  document    TEXT NOT NULL, -- JSON
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  note        TEXT NOT NULL,
  created_at  DATETIME NOT NULL
);

-- What an admin is writing of the policy, one for each. It has no effect before it is saved as a
-- version, and may say what is not valid yet.
CREATE TABLE policy_drafts (
  user_id       TEXT PRIMARY KEY REFERENCES users (id),
  base          INTEGER NOT NULL REFERENCES policies (version), -- what it began with
  revision      INTEGER NOT NULL, -- counts the times that it was kept
  document      TEXT NOT NULL,
  previous      TEXT NOT NULL, -- what it was before, to go back to; empty: nothing
  previous_base INTEGER NOT NULL,
  changed_at    DATETIME NOT NULL
) WITHOUT ROWID;

-- Agents that a person stopped: what they ask is rejected until the stop is lifted.
CREATE TABLE stops (
  id          TEXT PRIMARY KEY,
  agent_id    TEXT NOT NULL, -- empty: all agents
  note        TEXT NOT NULL,
  at          DATETIME NOT NULL,
  by_id       TEXT NOT NULL, -- empty: the command line
  by_name     TEXT NOT NULL,
  lifted_at   DATETIME,
  lifted_id   TEXT NOT NULL DEFAULT '',
  lifted_name TEXT NOT NULL DEFAULT '',
  lifted_note TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE UNIQUE INDEX stops_standing ON stops (agent_id) WHERE lifted_at IS NULL;

-- Pre-approvals: further calls like one run without a person. A call with a member that is
-- neither fixed nor free is not covered. A grant ends with its maker's right to decide.
CREATE TABLE grants (
  id           TEXT PRIMARY KEY,
  owner_id     TEXT NOT NULL REFERENCES users (id),
  agent_id     TEXT NOT NULL REFERENCES agents (id),
  tool_name    TEXT NOT NULL,
  fixed        TEXT NOT NULL, -- canonical JSON: the members that stay as they are
  free         TEXT NOT NULL, -- JSON: the names of those that may differ
  made_by      TEXT NOT NULL REFERENCES users (id), -- who stands for it
  maker_name   TEXT NOT NULL,
  made_from    TEXT NOT NULL, -- the request it was made on
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  max_uses     INTEGER NOT NULL CHECK (max_uses > 0),
  uses         INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0 AND uses <= max_uses),
  used_at      DATETIME,
  revoked_at   DATETIME,
  revoked_by   TEXT,
  revoker_name TEXT NOT NULL DEFAULT '',
  removed      TEXT
) WITHOUT ROWID;
-- Those that may cover a call.
CREATE INDEX grants_live ON grants (agent_id, tool_name, expires_at) WHERE revoked_at IS NULL;
-- The pre-approvals for the agents of a person, and those of all.
CREATE INDEX grants_owner ON grants (owner_id, created_at, id);
CREATE INDEX grants_all ON grants (created_at, id);

-- === Requests ===

-- What agents put forward: replies, proposals, tool calls, questions and requests for budget. The
-- approval of a response is in its row; there is no table of approvals. approval_status is NULL
-- where none is needed. The large texts come after the short columns that most reads need, so
-- that these stop early.
CREATE TABLE responses (
  number                INTEGER PRIMARY KEY, -- order of arrival: agents choose ids, so these do not sort by time
  id                    TEXT NOT NULL UNIQUE,
  conversation_id       TEXT NOT NULL REFERENCES conversations (id),
  sequence              INTEGER NOT NULL, -- its place in the conversation
  owner_id              TEXT NOT NULL REFERENCES users (id),
  agent_id              TEXT NOT NULL REFERENCES agents (id),
  kind                  TEXT NOT NULL CHECK (kind = 'tool_call' OR kind = 'question' OR kind = 'proposal' OR kind = 'reply' OR kind = 'budget'),
  created_at            DATETIME NOT NULL,
  claimed_at            DATETIME, -- when the agent says that it asked, by its own clock; NULL: it did not say

  tool_use_id           TEXT, -- the agent's id of the call, its key (I9)
  job_id                TEXT, -- the agent's word for what it works on, for people
  call_id               TEXT, -- the id that the other system gave it
  upstream_id           TEXT, -- the other system that asks; NULL: none does
  approval_id           TEXT, -- what that system calls the request
  batch_id              TEXT, -- calls of one message
  parent_tool_use_id    TEXT NOT NULL DEFAULT '', -- the call that started the sub-agent whose it is

  digest                TEXT NOT NULL,
  digest_version        INTEGER NOT NULL DEFAULT 1 CHECK (digest_version >= 1), -- what the digest covers (models.DigestVersion)
  risk                  TEXT NOT NULL CHECK (risk = 'low' OR risk = 'medium' OR risk = 'high' OR risk = 'critical'),
  asked                 BOOLEAN NOT NULL DEFAULT TRUE, -- FALSE: it is said, or only reported; lists of requests leave it out
  requires_approval     BOOLEAN NOT NULL DEFAULT FALSE,
  approval_status       TEXT CHECK (approval_status = 'pending' OR approval_status = 'approved' OR approval_status = 'rejected' OR approval_status = 'expired' OR approval_status = 'cancelled' OR approval_status = 'resolved'),
  approval_timestamp    DATETIME,
  approval_feedback     TEXT CHECK (approval_feedback <> ''), -- NULL: there is none
  cause                 TEXT NOT NULL DEFAULT '' CHECK (cause = '' OR cause = 'reviewer' OR cause = 'policy' OR cause = 'grant' OR cause = 'gate_off' OR cause = 'fallback' OR cause = 'timeout'
    OR cause = 'cancelled' OR cause = 'cascade' OR cause = 'no_reviewer' OR cause = 'undelivered' OR cause = 'elsewhere' OR cause = 'gone' OR cause = 'run_ended' OR cause = 'stopped'),
  policy_version        INTEGER NOT NULL DEFAULT 0,
  policy_rule           TEXT NOT NULL DEFAULT '',
  policy_reason         TEXT NOT NULL DEFAULT '',
  reviewers_only        BOOLEAN NOT NULL DEFAULT FALSE, -- only the people that the rule names may approve
  self_approval         TEXT NOT NULL DEFAULT 'allowed' CHECK (self_approval IN ('allowed', 'never')), -- whether the agent's owner may approve
  approvers             TEXT NOT NULL DEFAULT '', -- JSON: whom the rule names; empty: it makes no demand
  approval_requested_at DATETIME,
  approval_timeout_at   DATETIME NOT NULL DEFAULT '9999-12-31 00:00:00+00:00',
  held_until            DATETIME, -- until when the vote is held; NULL: none is
  paused_left           INTEGER, -- seconds that are left while a question stops the clock
  open_note             TEXT, -- that question; NULL: none does
  decided_by            TEXT REFERENCES users (id),
  vote_id               TEXT REFERENCES votes (id), -- the vote that became the outcome
  grant_id              TEXT,
  cascaded_from         TEXT, -- the rejection that this one follows

  is_completed          BOOLEAN NOT NULL DEFAULT FALSE, -- the call has a result, or gets none
  completed_at          DATETIME,
  reported_at           DATETIME, -- when the agent says that it was, and not later than it arrived; NULL: it was not reported
  is_error              BOOLEAN NOT NULL DEFAULT FALSE, -- the result is one
  closed                TEXT NOT NULL DEFAULT '' CHECK (closed = '' OR closed = 'run' OR closed = 'owner'), -- completed without a result, and by whom
  matched_by            TEXT NOT NULL DEFAULT '' CHECK (matched_by = '' OR matched_by = 'tool_use_id' OR matched_by = 'input' OR matched_by = 'order' OR matched_by = 'only' OR matched_by = 'unmatched'), -- how the request of another system found its call
  input_bytes           INTEGER, -- the true length of an input that is kept cut, which cannot be approved; NULL: it is whole
  content_bytes         INTEGER, -- of a content that is kept cut
  result_bytes          INTEGER, -- of a result that is kept cut

  energy                INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  energy_budget         INTEGER CHECK (energy_budget >= 0), -- the budget that it asks for
  model_used            TEXT NOT NULL DEFAULT '',
  removed               TEXT,
  tool_name             TEXT NOT NULL DEFAULT '',

  description           TEXT NOT NULL DEFAULT '',
  context               TEXT NOT NULL DEFAULT '', -- what the agent says around it
  options               TEXT NOT NULL DEFAULT '', -- JSON: what a question may be answered with
  content               TEXT NOT NULL DEFAULT '',
  tool_input_json       TEXT NOT NULL DEFAULT '', -- as sent
  answer                TEXT NOT NULL DEFAULT '',
  contradiction         TEXT NOT NULL DEFAULT '', -- what was reported against what stands
  tool_result           TEXT NOT NULL DEFAULT '',

  template              TEXT NOT NULL DEFAULT '', -- that the agent named
  checklist             TEXT NOT NULL DEFAULT '', -- JSON: texts that whoever approves ticks; empty: none
  template_text         TEXT NOT NULL DEFAULT '', -- shown beside the request
  protocol              TEXT NOT NULL DEFAULT '' CHECK (protocol IN ('', 'function_calls')), -- of a client that runs its call as it made it
  client_data           TEXT NOT NULL DEFAULT '', -- JSON that such a client reads again: channel, state, subject, reject_options; no credentials
  escalated_at          DATETIME, -- when the agent last asked for more attention
  preview               TEXT NOT NULL DEFAULT '', -- what the agent says that the call will do: its claim
  escalation            INTEGER NOT NULL DEFAULT 0, -- how many steps of its escalation it has taken
  no_substitutes        BOOLEAN NOT NULL DEFAULT FALSE, -- its rule lets nobody act for others
  accepts_edits         BOOLEAN NOT NULL DEFAULT FALSE, -- who asked runs the input that was approved, be it another than it sent
  headline              TEXT NOT NULL DEFAULT '', -- what it would do, in one sentence, made at the ask; empty: it is made when it is read
  outside_run           TEXT -- the run for which another system asks, where that is not the run of the conversation
);
-- A conversation: all of it, what waits in it, and the calls of which more is to be reported or
-- asked.
CREATE UNIQUE INDEX responses_history ON responses (conversation_id, sequence);
CREATE INDEX responses_pending_conversation ON responses (conversation_id, approval_timeout_at, id) WHERE approval_status = 'pending';
-- The proposal or budget request that a message in the conversation answers.
CREATE INDEX responses_pending_spoken ON responses (conversation_id, sequence)
  WHERE approval_status = 'pending' AND kind IN ('proposal', 'budget');
-- Calls to which nothing has happened yet: another system may ask about one, by its tool or its
-- input.
CREATE INDEX responses_open ON responses (conversation_id, tool_name, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_open_input ON responses (conversation_id, digest, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_batch ON responses (conversation_id, batch_id, sequence) WHERE kind = 'tool_call' AND batch_id IS NOT NULL;
-- Reported calls that are under way: the next message of the same agent or sub-agent closes those
-- of the one before.
CREATE INDEX responses_unfinished ON responses (conversation_id, parent_tool_use_id, batch_id)
  WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending');
-- Calls that were rejected with their batch, which another system may ask about yet.
CREATE INDEX responses_cascaded ON responses (conversation_id, digest, sequence) WHERE cause = 'cascade' AND is_completed = FALSE;
-- An id of a call is used up once its result was reported or its answer was taken: a later call
-- with it is another request.
CREATE INDEX responses_tool_use ON responses (conversation_id, tool_use_id, sequence) WHERE tool_use_id IS NOT NULL;
-- One budget request waits for each conversation, and one for each agent.
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (CASE tool_name WHEN 'allow_agent_energy' THEN agent_id ELSE conversation_id END)
  WHERE kind = 'budget' AND approval_status = 'pending';
-- An agent: its calls by their ids, what waits of it, and the list of its requests.
CREATE INDEX responses_agent_tool_use ON responses (agent_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_pending_agent ON responses (agent_id) WHERE approval_status = 'pending';
-- Like every index of this table it ends with the number, so it is in the order of arrival.
CREATE INDEX responses_agent ON responses (agent_id) WHERE asked = TRUE;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL AND upstream_id IS NULL;
-- What became of an agent's calls of a tool, newest first.
CREATE INDEX responses_tool ON responses (agent_id, tool_name) WHERE asked = TRUE;
-- What was rejected or approved, to know it when it is asked again. Of approvals only those that
-- can do harm are here, so that others cost nothing.
CREATE INDEX responses_rejected ON responses (agent_id, digest, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_rejected_tool ON responses (agent_id, tool_name, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_approved_harm ON responses (agent_id, digest, approval_timestamp)
  WHERE approval_status = 'approved' AND risk IN ('high', 'critical');
-- For clients of the function-call API the id of a call is its key among all of the agent (I9).
CREATE UNIQUE INDEX responses_function_calls ON responses (agent_id, tool_use_id) WHERE protocol <> '';
CREATE INDEX responses_pending_protocol ON responses (agent_id, kind, number) WHERE protocol <> '' AND approval_status = 'pending';
-- A call that comes in without a key is looked for among those that have one and wait.
CREATE INDEX responses_pending_digest ON responses (agent_id, digest) WHERE approval_status = 'pending' AND tool_use_id IS NOT NULL;
-- Another system: what waits of it, each of its ids once.
CREATE INDEX responses_pending_upstream ON responses (upstream_id) WHERE approval_status = 'pending' AND upstream_id IS NOT NULL;
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id, kind) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL AND approval_status = 'pending';
-- The history: what was settled by when it was, what ran without a person by when it came.
CREATE INDEX responses_settled ON responses (approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_settled_owner ON responses (owner_id, approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_let_through ON responses (created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_let_through_owner ON responses (owner_id, created_at) WHERE approval_status IS NULL AND cause <> '';
-- What a grant covered.
CREATE INDEX responses_grant ON responses (grant_id, number) WHERE grant_id IS NOT NULL;
-- Votes in their undo window, soonest end first.
CREATE INDEX responses_held ON responses (held_until)
  WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL;
-- What waits for a group, for whoever joins or leaves it. Names of people are quoted in the list,
-- so that no e-mail looks like one.
CREATE INDEX responses_pending_groups ON responses (approvers, id) WHERE approval_status = 'pending' AND instr(approvers, '"group":') > 0;
-- What waits, most harm first, then the soonest deadline. The store orders by the same words
-- (models/store/inbox_keys.go); by deadline alone the four levels are merged.
CREATE INDEX responses_pending_risk ON responses (
  CASE risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END, approval_timeout_at, id
) WHERE approval_status = 'pending';

-- +goose StatementBegin
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are kept'); END;
-- +goose StatementEnd
-- An approval leaves pending once (I1).
-- +goose StatementBegin
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses
WHEN NEW.approval_status IS NOT OLD.approval_status
  -- IS: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS 'pending'
    AND (NEW.approval_status IS 'approved' OR NEW.approval_status IS 'rejected' OR NEW.approval_status IS 'expired'
      OR NEW.approval_status IS 'cancelled' OR NEW.approval_status IS 'resolved'))
  AND NOT (OLD.approval_status IS NULL AND (NEW.approval_status IS 'pending' OR NEW.approval_status IS 'rejected'))
BEGIN SELECT RAISE(ABORT, 'an approval moves from NULL to pending or rejected, and from pending once'); END;
-- +goose StatementEnd
-- What was settled stays as it is; only its reason may give way to the mark.
-- +goose StatementBegin
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IS NOT NULL AND OLD.approval_status <> 'pending'
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND (NEW.approval_feedback IS OLD.approval_feedback OR NEW.approval_feedback IS NEW.removed)
    AND NEW.approval_status IS OLD.approval_status AND NEW.approval_timestamp IS OLD.approval_timestamp AND NEW.cause IS OLD.cause
    AND NEW.decided_by IS OLD.decided_by AND NEW.vote_id IS OLD.vote_id)
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
-- +goose StatementEnd
-- Contents are removed once, from what waits for nobody, with a date and a name.
-- +goose StatementBegin
CREATE TRIGGER responses_removed BEFORE UPDATE OF removed ON responses
WHEN OLD.removed IS NOT NULL OR OLD.approval_status IS 'pending'
  OR coalesce(NEW.removed, '') NOT GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*'
BEGIN SELECT RAISE(ABORT, 'contents are removed once, and not from what is pending'); END;
-- +goose StatementEnd
-- What a response is about stays as it is, but for contents that give way to the mark. A request
-- of another system that finds its call becomes the agent's whose call it is.
-- +goose StatementBegin
CREATE TRIGGER responses_content BEFORE UPDATE OF kind, digest, tool_name, tool_input_json, content, options, agent_id, owner_id ON responses
WHEN NEW.kind IS NOT OLD.kind OR NEW.digest IS NOT OLD.digest OR NEW.tool_name IS NOT OLD.tool_name
  OR NEW.owner_id IS NOT OLD.owner_id
  OR NEW.agent_id IS NOT OLD.agent_id AND NOT (OLD.matched_by = 'unmatched' AND NEW.matched_by <> 'unmatched' AND OLD.approval_status = 'pending' AND OLD.held_until IS NULL
    AND NEW.agent_id IS (SELECT c.agent_id FROM conversations c WHERE c.id = NEW.conversation_id AND c.owner_id = NEW.owner_id))
  OR (NEW.tool_input_json IS NOT OLD.tool_input_json OR NEW.content IS NOT OLD.content OR NEW.options IS NOT OLD.options)
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL
      AND NEW.tool_input_json IN (OLD.tool_input_json, json_object('removed', NEW.removed))
      AND NEW.content IN (OLD.content, NEW.removed)
      AND NEW.options IN (OLD.options, json_array(json_object('name', NEW.removed))))
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
-- What a digest covers stays as well: of a question its text, of a proposal the budget that it
-- asks for.
-- +goose StatementBegin
CREATE TRIGGER responses_digested BEFORE UPDATE OF digest_version, description, energy_budget ON responses
WHEN NEW.digest_version IS NOT OLD.digest_version
  OR NEW.kind = 'question' AND NEW.description IS NOT OLD.description
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.description = NEW.removed)
  OR NEW.kind = 'proposal' AND NEW.energy_budget IS NOT OLD.energy_budget
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
-- +goose StatementEnd
-- Who may approve is decided at the ask (I12).
-- +goose StatementBegin
CREATE TRIGGER responses_approvers BEFORE UPDATE OF reviewers_only, self_approval, approvers ON responses
WHEN OLD.approval_status IS NOT NULL
  AND (NEW.reviewers_only IS NOT OLD.reviewers_only OR NEW.self_approval IS NOT OLD.self_approval OR NEW.approvers IS NOT OLD.approvers)
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_substitutes BEFORE UPDATE OF no_substitutes ON responses
WHEN OLD.approval_status IS NOT NULL AND NEW.no_substitutes IS NOT OLD.no_substitutes
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
-- +goose StatementEnd
-- What is said with an ask stays as it is. A call that was only reported gets it when it is asked
-- about.
-- +goose StatementBegin
CREATE TRIGGER responses_templates BEFORE UPDATE OF template, checklist, template_text ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.template IS NOT OLD.template OR NEW.checklist IS NOT OLD.checklist OR NEW.template_text IS NOT OLD.template_text)
BEGIN SELECT RAISE(ABORT, 'what templates said of a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_client BEFORE UPDATE OF protocol, client_data ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.protocol IS NOT OLD.protocol OR NEW.client_data IS NOT OLD.client_data
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.client_data = json_object('removed', NEW.removed)))
BEGIN SELECT RAISE(ABORT, 'what a client sent never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_accepts_edits BEFORE UPDATE OF accepts_edits ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '') AND NEW.accepts_edits IS NOT OLD.accepts_edits
BEGIN SELECT RAISE(ABORT, 'whether a client takes edits never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_headline BEFORE UPDATE OF headline ON responses
WHEN NEW.headline IS NOT OLD.headline AND (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.headline = NEW.removed)
BEGIN SELECT RAISE(ABORT, 'the headline of a request never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER responses_escalation BEFORE UPDATE OF escalation ON responses
WHEN OLD.approval_status IS NOT 'pending' OR NEW.escalation <= OLD.escalation
BEGIN SELECT RAISE(ABORT, 'a step of an escalation is taken once, while the request waits'); END;
-- +goose StatementEnd

-- What people decided. A vote that is held, that waits for others or that was taken back is no
-- outcome.
CREATE TABLE votes (
  id           TEXT PRIMARY KEY,
  response_id  TEXT NOT NULL REFERENCES responses (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  user_name    TEXT NOT NULL,
  verdict      TEXT NOT NULL CHECK (verdict = 'approve' OR verdict = 'reject' OR verdict = 'answer'),
  reason       TEXT NOT NULL DEFAULT '',
  digest       TEXT NOT NULL, -- of the request as it stood
  seen_digest  TEXT NOT NULL DEFAULT '', -- as whoever voted sent it
  input        TEXT, -- another input, as sent: approved in the place of the agent's, or suggested with a rejection
  input_digest TEXT,
  answer       TEXT,
  option       TEXT, -- that a question's answer chose
  at           DATETIME NOT NULL,
  withdrawn_at DATETIME, -- when it was taken back
  undo_until   DATETIME, -- until when an approval may be taken back; NULL: it was never held for that
  budget_set   INTEGER, -- the change of the conversation's budget that its release makes
  budget_delta INTEGER,
  waits_for    TEXT NOT NULL DEFAULT '', -- JSON: who must approve the edit too; empty: the vote counts
  checked      TEXT NOT NULL DEFAULT '', -- JSON: the numbers of the items of the checklist that were ticked
  behalf_of    TEXT NOT NULL DEFAULT '', -- for whom, if the rule does not let them approve in their own right; empty: for nobody
  behalf_name  TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX votes_response ON votes (response_id);
-- Inputs that were approved as an edit, to know them when they are asked.
CREATE INDEX votes_edited ON votes (input_digest, at) WHERE input_digest IS NOT NULL;
CREATE INDEX votes_waiting ON votes (response_id) WHERE waits_for <> '';

-- +goose StatementBegin
CREATE TRIGGER votes_checked BEFORE UPDATE OF checked ON votes WHEN NEW.checked IS NOT OLD.checked
BEGIN SELECT RAISE(ABORT, 'what a voter ticked never changes'); END;
-- +goose StatementEnd

-- To whom a rule routed a request, as it was at the ask; also those who have it for somebody
-- else.
CREATE TABLE reviewers (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id),
  tool_use_id TEXT, -- of the request
  settled_at  DATETIME, -- when the request was; NULL: it waits
  for_others  BOOLEAN NOT NULL DEFAULT FALSE, -- the rule does not ask this person: they have it for somebody else
  number      INTEGER NOT NULL DEFAULT 0, -- of the request
  PRIMARY KEY (user_id, response_id)
) WITHOUT ROWID;
CREATE INDEX reviewers_response ON reviewers (response_id);
-- A call by the agent's id for it, among what was routed to a person.
CREATE INDEX reviewers_tool_use ON reviewers (user_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
-- What waits for a person, and what was settled, by when it was.
CREATE INDEX reviewers_settled ON reviewers (user_id, settled_at);
CREATE INDEX reviewers_for_others ON reviewers (response_id) WHERE for_others;
-- What was routed to a person, in the order of asking.
CREATE INDEX reviewers_number ON reviewers (user_id, number);

-- The inbox of a person: what waits for them now, soonest deadline first. A row leaves with the
-- end of its request. Admins read the index of all that waits instead.
CREATE TABLE deciders (
  user_id     TEXT NOT NULL,
  deadline    DATETIME NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (user_id, deadline, response_id)
) WITHOUT ROWID;

-- What is said about a request without deciding it: questions of reviewers, answers of its agent
-- or owner.
CREATE TABLE notes (
  id          TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  number      INTEGER NOT NULL, -- 1, 2, 3 for each request
  author_kind TEXT NOT NULL CHECK (author_kind IN ('user', 'agent')),
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  asks        BOOLEAN NOT NULL, -- somebody wants an answer
  content     TEXT NOT NULL,
  at          DATETIME NOT NULL,
  escalates   BOOLEAN NOT NULL DEFAULT FALSE -- the agent asks for more attention
) WITHOUT ROWID;
CREATE UNIQUE INDEX notes_response ON notes (response_id, number);

-- Parts of a request that a person has unfolded: approving what can do much harm wants all of
-- them.
CREATE TABLE opened_parts (
  user_id     TEXT NOT NULL,
  response_id TEXT NOT NULL,
  part        TEXT NOT NULL,
  at          DATETIME NOT NULL,
  PRIMARY KEY (user_id, response_id, part)
) WITHOUT ROWID;

-- When further people are asked about a request that waits. A row goes when its time has come, or
-- with the end of its request.
CREATE TABLE escalations (
  response_id TEXT NOT NULL REFERENCES responses (id),
  step        INTEGER NOT NULL,
  due_at      DATETIME NOT NULL,
  paused_at   DATETIME, -- since when a question stops the clock
  PRIMARY KEY (response_id, step)
) WITHOUT ROWID;
CREATE INDEX escalations_due ON escalations (due_at) WHERE paused_at IS NULL;

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

-- Decisions that were taken back although their time to be undone was over: another system
-- refused them, or an admin withdrew them.
CREATE TABLE withdrawals (
  vote_id     TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  at          DATETIME NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('refused', 'withdrawn')),
  by_name     TEXT NOT NULL,
  status      INTEGER NOT NULL DEFAULT 0, -- what the other system answered
  said        TEXT NOT NULL DEFAULT '', -- its words, or the admin's reason
  lost        BOOLEAN NOT NULL DEFAULT FALSE -- an earlier attempt to tell it may have arrived
) WITHOUT ROWID;
CREATE INDEX withdrawals_response ON withdrawals (response_id, at);

-- Which call of a session an allowing answer to a permission prompt was given to.
CREATE TABLE given_answers (
  response_id TEXT PRIMARY KEY REFERENCES responses (id),
  taker       TEXT NOT NULL -- empty: none has it yet
) WITHOUT ROWID;

-- === Conversations and runs ===

-- One run of one agent and all that is in it, with its budget of energy. While a request in it
-- waits for a person, one that is running is shown as waiting_input.
CREATE TABLE conversations (
  id                TEXT PRIMARY KEY,
  owner_id          TEXT NOT NULL REFERENCES users (id),
  agent_id          TEXT NOT NULL REFERENCES agents (id),
  run_id            TEXT, -- the agent's id of the run
  parent_run_id     TEXT,
  title             TEXT NOT NULL DEFAULT '',
  status            TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'waiting_input', 'completed', 'failed')),
  standing          BOOLEAN NOT NULL DEFAULT FALSE, -- the agent's own, for asks that name no conversation
  on_reject         TEXT NOT NULL DEFAULT 'continue' CHECK (on_reject IN ('cascade', 'continue')), -- what a rejection does to the rest of its batch
  next_sequence     INTEGER NOT NULL DEFAULT 1, -- of the next message, response or change of the budget
  energy_budget     INTEGER CHECK (energy_budget >= 0), -- NULL: there is no limit
  energy_used       INTEGER NOT NULL DEFAULT 0 CHECK (energy_used >= 0),
  energy_reserved   INTEGER NOT NULL DEFAULT 0 CHECK (energy_reserved >= 0), -- for calls of the model that are under way
  created_at        DATETIME NOT NULL,
  updated_at        DATETIME NOT NULL,
  paused_at         DATETIME, -- no call of the model until somebody resumes
  archived_at       DATETIME,
  active_at         DATETIME NOT NULL DEFAULT '1970-01-01 00:00:00+00:00', -- updated_at to the minute, by which lists are ordered: an index of what every ask changes costs every ask a page
  budget_added      INTEGER NOT NULL DEFAULT 0 CHECK (budget_added >= 0), -- by the system since a person last set the budget
  budget_refused    TEXT, -- the budget request that was rejected last: no other is made until the budget changes or a person writes
  on_reject_by      TEXT NOT NULL DEFAULT '' CHECK (on_reject_by IN ('', 'agent', 'person')), -- who chose it last: what a person chose, the agent does not change
  waits_for_request BOOLEAN NOT NULL DEFAULT FALSE CHECK (waits_for_request IN (FALSE, TRUE)), -- status is waiting_input until the pending request ends
  removed           TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX conversations_run ON conversations (owner_id, run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX conversations_standing ON conversations (agent_id) WHERE standing;
CREATE INDEX conversations_parent_run ON conversations (owner_id, parent_run_id, created_at) WHERE parent_run_id IS NOT NULL;
-- The list of conversations, one index for each of its filters.
CREATE INDEX conversations_all ON conversations (active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner ON conversations (owner_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_agent ON conversations (agent_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_status ON conversations (status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner_status ON conversations (owner_id, status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_archived ON conversations (active_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX conversations_owner_archived ON conversations (owner_id, active_at, id) WHERE archived_at IS NOT NULL;
-- What the built-in agent has reserved in its conversations: few at any time.
CREATE INDEX conversations_reserved ON conversations (agent_id) WHERE energy_reserved > 0;

-- What was said into a conversation. Messages, responses and changes of the budget share one
-- sequence.
CREATE TABLE messages (
  id              TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  author_kind     TEXT NOT NULL CHECK (author_kind IN ('user', 'agent', 'system')),
  author_id       TEXT NOT NULL,
  author_name     TEXT NOT NULL,
  content         TEXT NOT NULL,
  response_id     TEXT, -- that it decides or answers
  created_at      DATETIME NOT NULL,
  content_bytes   INTEGER, -- the true length of a content that is kept cut; NULL: it is whole
  removed         TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX messages_history ON messages (conversation_id, sequence);

-- Changes of a conversation's budget.
CREATE TABLE budget_steps (
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  at              DATETIME NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system', 'operator')),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  old             INTEGER CHECK (old >= 0), -- NULL: there was none
  new             INTEGER NOT NULL CHECK (new >= 0),
  reason          TEXT NOT NULL DEFAULT '',
  response_id     TEXT, -- the request that was approved
  removed         TEXT,
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;

-- What all conversations of an agent have spent, by the minute (Unix time / 60). It is written
-- only while the policy limits it (budget_per_agent).
CREATE TABLE agent_energy (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  energy   INTEGER NOT NULL CHECK (energy >= 0),
  PRIMARY KEY (agent_id, minute)
) WITHOUT ROWID;

-- The sums of agent_energy and agent_allowances over the hours before a minute, so that an ask
-- adds to one row instead of reading a window.
CREATE TABLE agent_windows (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  hours    INTEGER NOT NULL CHECK (hours >= 1),
  spent    INTEGER NOT NULL CHECK (spent >= 0),
  allowed  INTEGER NOT NULL CHECK (allowed >= 0)
) WITHOUT ROWID;

-- How requests for more energy of an agent were decided: what it may spend besides, before a
-- minute.
CREATE TABLE agent_allowances (
  agent_id    TEXT NOT NULL REFERENCES agents (id),
  until       INTEGER NOT NULL,
  response_id TEXT NOT NULL,
  energy      INTEGER NOT NULL CHECK (energy >= 0), -- 0: nothing, and nobody is asked again before then
  PRIMARY KEY (agent_id, until, response_id)
) WITHOUT ROWID;

-- What the built-in agent's model said, turn by turn, with the result of each of its calls: its
-- context is made from this.
CREATE TABLE turns (
  conversation_id   TEXT NOT NULL REFERENCES conversations (id),
  sequence          INTEGER NOT NULL,
  at                DATETIME NOT NULL,
  model             TEXT NOT NULL,
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  energy            INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0), -- that no response carries
  said              TEXT NOT NULL, -- JSON: content, calls with name, arguments, result or response
  removed           TEXT,
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;

-- Conversations that the built-in agent runs. Whoever works on one holds a lease, and writes only
-- while its number stands.
CREATE TABLE agent_inbox (
  conversation_id TEXT PRIMARY KEY REFERENCES conversations (id),
  ready_at        DATETIME, -- when there is something to do; NULL: a person is awaited
  lease           INTEGER NOT NULL DEFAULT 0,
  holder          TEXT NOT NULL DEFAULT '',
  leased_until    DATETIME, -- NULL: nobody works on it
  turns           INTEGER NOT NULL DEFAULT 0, -- since a person last did something
  attempts        INTEGER NOT NULL DEFAULT 0 -- of the model that failed, in a row
) WITHOUT ROWID;
CREATE INDEX agent_inbox_ready ON agent_inbox (ready_at) WHERE ready_at IS NOT NULL;

-- Each reported event once: by its own id, or by type and call.
CREATE TABLE run_events (
  conversation_id TEXT NOT NULL,
  key             TEXT NOT NULL,
  digest          BLOB NOT NULL, -- of what was reported under the key
  response_id     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (conversation_id, key)
) WITHOUT ROWID;

-- Results of calls that have not been reported yet.
CREATE TABLE early_results (
  conversation_id TEXT NOT NULL,
  tool_use_id     TEXT NOT NULL,
  at              DATETIME NOT NULL,
  is_error        BOOLEAN NOT NULL,
  result_bytes    INTEGER,
  result          TEXT NOT NULL,
  removed         TEXT,
  PRIMARY KEY (conversation_id, tool_use_id)
) WITHOUT ROWID;

-- === Outside systems ===

-- Other systems whose approvals are decided here, and how the last polls of each went.
CREATE TABLE upstreams (
  id              TEXT PRIMARY KEY,
  name            TEXT NOT NULL UNIQUE,
  base_url        TEXT NOT NULL,
  dialect         TEXT NOT NULL CHECK (dialect IN ('plain', 'cloud')),
  key_sealed      BLOB NOT NULL, -- with a key file in the data folder
  owner_id        TEXT NOT NULL REFERENCES users (id),
  agent_id        TEXT NOT NULL REFERENCES agents (id), -- that its unmatched requests belong to
  created_at      DATETIME NOT NULL,
  disabled_at     DATETIME,
  next_poll_at    DATETIME NOT NULL,
  polled_at       DATETIME, -- when the last poll began
  succeeded_at    DATETIME,
  failures        INTEGER NOT NULL DEFAULT 0, -- in a row
  problem         TEXT NOT NULL DEFAULT '', -- of the last poll, in words
  checked_address BOOLEAN NOT NULL DEFAULT FALSE, -- it reaches unique-local and metadata addresses only if they are allowed by name
  paused_at       DATETIME -- it refuses its key, and is left alone until it gets another or somebody resumes it
) WITHOUT ROWID;
CREATE INDEX upstreams_due ON upstreams (next_poll_at) WHERE disabled_at IS NULL;

-- What other systems ask, as it was fetched, each once. An id may be used for a call and for a
-- contact, may ask for something else later, and may be listed again after it was settled: each
-- is a request of its own.
CREATE TABLE outside_approvals (
  number      INTEGER PRIMARY KEY,
  upstream_id TEXT NOT NULL,
  call_id     TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('function_call', 'human_contact')),
  again       INTEGER NOT NULL DEFAULT 0, -- tells these apart; the last is what is listed now
  run_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  raw         TEXT NOT NULL, -- all that was sent, JSON
  beside      TEXT NOT NULL DEFAULT '', -- what is sent beside the arguments, as JSON: people read it before they decide
  first_at    DATETIME NOT NULL,
  timeout_at  DATETIME,
  polls       INTEGER NOT NULL DEFAULT 0, -- in which no call fitted
  response_id TEXT NOT NULL DEFAULT '', -- empty: it has neither found its call nor got a response of its own
  tool_use_id TEXT NOT NULL DEFAULT '', -- of the call that it names
  digest      TEXT NOT NULL DEFAULT '', -- of tool and arguments; empty: nothing equals it
  waits       BOOLEAN NOT NULL DEFAULT FALSE, -- for a call that may be reported later
  linked_id   TEXT NOT NULL DEFAULT '', -- the call, where both keep a row of their own
  linked_by   TEXT NOT NULL DEFAULT '' CHECK (linked_by IN ('', 'tool_use_id', 'input', 'order', 'only')),
  removed     TEXT,
  UNIQUE (upstream_id, call_id, kind, again)
);
-- What waits for a call, when a system is polled or a call is reported.
CREATE INDEX outside_approvals_waiting ON outside_approvals (upstream_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_wanted ON outside_approvals (digest, run_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_linked ON outside_approvals (linked_id) WHERE linked_id <> '';

-- Votes on their way to another system.
CREATE TABLE deliveries (
  response_id  TEXT PRIMARY KEY,
  upstream_id  TEXT NOT NULL,
  vote_id      TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  give_up_at   DATETIME NOT NULL,
  next_at      DATETIME NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  in_flight_at DATETIME, -- while an attempt runs
  lost         BOOLEAN NOT NULL DEFAULT FALSE, -- an attempt may have arrived although its answer did not
  problem      TEXT NOT NULL DEFAULT '', -- of the last attempt, in words
  done_at      DATETIME,
  outcome      TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (upstream_id, next_at) WHERE done_at IS NULL;
-- How long the oldest has been waiting.
CREATE INDEX deliveries_untold ON deliveries (upstream_id, created_at) WHERE done_at IS NULL;

-- === Notifications and webhooks ===

-- Where people and groups are told what waits for them. One that was removed keeps its row,
-- without the target: whoever was told by it stays explained.
CREATE TABLE channels (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL, -- empty: a group's
  group_id       TEXT NOT NULL, -- empty: a person's
  kind           TEXT NOT NULL CHECK (kind IN ('email', 'web_push', 'ntfy', 'slack', 'webhook')),
  label          TEXT NOT NULL, -- the address, or the host and a name; no secret
  created_at     DATETIME NOT NULL,
  verified_at    DATETIME, -- NULL: only a code is sent there
  disabled_at    DATETIME, -- the service says that the address is gone
  removed_at     DATETIME,
  session_id     TEXT NOT NULL DEFAULT '', -- of the browser that a web push channel belongs to
  target_sealed  BLOB,
  address_digest TEXT NOT NULL,
  code_sealed    BLOB,
  code_expires   DATETIME,
  code_tries     INTEGER NOT NULL DEFAULT 0,
  told_at        DATETIME, -- when its recipient was last told of something
  failing_since  DATETIME, -- once enough attempts failed in a row
  last_sent_at   DATETIME,
  last_class     TEXT NOT NULL DEFAULT '',
  last_status    INTEGER NOT NULL DEFAULT 0,
  failures       INTEGER NOT NULL DEFAULT 0, -- in a row
  first_failure  DATETIME,
  CHECK ((user_id = '') <> (group_id = '')),
  CHECK (removed_at IS NULL OR target_sealed IS NULL)
) WITHOUT ROWID;
CREATE INDEX channels_in_use ON channels (user_id || group_id) WHERE removed_at IS NULL;
-- A browser in which somebody else has signed in.
CREATE INDEX channels_browsers ON channels (address_digest) WHERE removed_at IS NULL AND kind = 'web_push';

-- When a person wants to be told, where it is not the usual.
CREATE TABLE notification_settings (
  user_id                 TEXT PRIMARY KEY REFERENCES users (id),
  moments                 TEXT NOT NULL, -- JSON, by risk
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

-- Codes that were sent in the last hour to verify addresses, for the limits.
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

-- Messages on their way. A row goes when its message was sent or given up.
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
-- What is due first on each channel, so that a slow one holds up no other.
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

-- Requests whose headline messages may carry, as their rule said at the ask.
CREATE TABLE told_headlines (
  response_id TEXT PRIMARY KEY REFERENCES responses (id)
) WITHOUT ROWID;

-- When somebody was last active on a page of the desk: who is there is sent nothing.
CREATE TABLE desk_active (
  user_id   TEXT PRIMARY KEY REFERENCES users (id),
  active_at DATETIME NOT NULL
) WITHOUT ROWID;

-- Endpoints that get the ledger's events. What is to be sent is nowhere but in the ledger: an
-- endpoint remembers how far it has got. One that was removed keeps its row, without the target.
CREATE TABLE webhooks (
  id               TEXT PRIMARY KEY,
  name             TEXT NOT NULL,
  label            TEXT NOT NULL, -- scheme and host
  owner_id         TEXT NOT NULL, -- empty: the command line
  types            TEXT NOT NULL, -- JSON; []: all
  inputs           BOOLEAN NOT NULL, -- whether events carry the input
  cursor           INTEGER NOT NULL, -- what it gets up to there was accepted, was skipped, or is of a blocked stream
  created_at       DATETIME NOT NULL,
  paused_at        DATETIME,
  paused_why       TEXT NOT NULL DEFAULT '' CHECK (paused_why IN ('', 'by_person', 'failing', 'gone')),
  paused_by        TEXT NOT NULL DEFAULT '',
  paused_class     TEXT NOT NULL DEFAULT '', -- of the last attempt before the pause
  old_key_until    DATETIME, -- until when events are signed with the key before as well
  last_accepted_at DATETIME,
  removed_at       DATETIME,
  target_sealed    BLOB,
  position         INTEGER NOT NULL DEFAULT 0, -- counts what moved the cursor and the blocks beside the worker
  answers          INTEGER NOT NULL DEFAULT 0, -- how many there were
  CHECK ((paused_at IS NULL) = (paused_why = '')),
  CHECK (removed_at IS NULL OR target_sealed IS NULL)
) WITHOUT ROWID;
CREATE UNIQUE INDEX webhooks_in_use ON webhooks (name) WHERE removed_at IS NULL;

-- Streams of events of which one was refused: the cursor goes past the rest of it.
CREATE TABLE webhook_blocks (
  webhook_id      TEXT NOT NULL REFERENCES webhooks (id),
  stream          TEXT NOT NULL, -- a conversation, else a request; empty: neither
  conversation_id TEXT NOT NULL,
  response_id     TEXT NOT NULL, -- of the event
  next_seq        INTEGER NOT NULL, -- of the event
  type            TEXT NOT NULL,
  since           DATETIME NOT NULL, -- of its first attempt
  due_at          DATETIME NOT NULL,
  attempts        INTEGER NOT NULL,
  class           TEXT NOT NULL,
  status          INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, stream)
) WITHOUT ROWID;

-- Dead letters: refused events that an admin gave up.
CREATE TABLE webhook_skipped (
  id         TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  seq        INTEGER NOT NULL,
  type       TEXT NOT NULL,
  at         DATETIME NOT NULL,
  by_id      TEXT NOT NULL, -- empty: the command line
  by_name    TEXT NOT NULL,
  reason     TEXT NOT NULL,
  class      TEXT NOT NULL,
  status     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhook_skipped_webhook ON webhook_skipped (webhook_id, id);

-- The last answers of each endpoint.
CREATE TABLE webhook_answers (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  slot       INTEGER NOT NULL, -- number of the answer, modulo how many are kept
  number     INTEGER NOT NULL,
  at         DATETIME NOT NULL,
  seq        INTEGER NOT NULL, -- 0: of a test
  type       TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  ms         INTEGER NOT NULL,
  class      TEXT NOT NULL,
  status     INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (webhook_id, slot)
) WITHOUT ROWID;

-- === Ledger ===

-- What happened, entry by entry: append-only, each with the hash of the one before. That it has
-- no gaps is seen by verifying it.
CREATE TABLE ledger (
  seq             INTEGER PRIMARY KEY,
  at              TEXT NOT NULL, -- the text that is hashed
  actor_kind      TEXT NOT NULL CHECK (actor_kind = 'user' OR actor_kind = 'agent' OR actor_kind = 'system' OR actor_kind = 'operator'),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  action          TEXT NOT NULL,
  owner_id        TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  response_id     TEXT NOT NULL,
  data            TEXT NOT NULL, -- JSON; digests and outcomes, never an input
  prev            BLOB NOT NULL,
  hash            BLOB NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- +goose StatementEnd

-- The last entry, in one row, and how far ledger_keys goes.
CREATE TABLE ledger_head (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO ledger_head (id, seq, hash) VALUES (1, 0, x'');

-- The entries of the ledger by owner, actor, conversation and action, filled in batches behind
-- the head: so an entry costs a part of a page, and not one for each key. What is newer than
-- ledger_head.indexed is found in the ledger itself.
CREATE TABLE ledger_keys (
  kind INTEGER NOT NULL, -- 1 owner, 2 actor, 3 conversation, 4 action
  key  TEXT NOT NULL,
  seq  INTEGER NOT NULL,
  PRIMARY KEY (kind, key, seq)
) WITHOUT ROWID;

-- Who may read an entry beside its owner, the owner's agents and the admins: those to whom the
-- request was routed. What a reader may see is judged at each reading.
CREATE TABLE ledger_readers (
  reader_id TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (reader_id, seq)
) WITHOUT ROWID;

-- The key under which event streams name how far a reader has come: the ledger's numbers would
-- tell how much happens that the reader may not see.
CREATE TABLE position_key (
  id  INTEGER PRIMARY KEY CHECK (id = 1),
  key BLOB NOT NULL CHECK (length(key) = 16)
);
INSERT INTO position_key (id, key) VALUES (1, randomblob(16));

-- === Bookkeeping ===

-- Work that one process of the installation does at a time.
CREATE TABLE leases (
  name   TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  holder TEXT NOT NULL,
  until  DATETIME NOT NULL
) WITHOUT ROWID;

-- What comparing all rows with the ledger found last, and when: one row, so that a restart does
-- not begin the week again.
CREATE TABLE row_checks (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  last_begun_at    DATETIME,
  last_ended_at    DATETIME,
  last_rows        INTEGER NOT NULL DEFAULT 0,
  last_found       INTEGER NOT NULL DEFAULT 0,
  last_not_covered INTEGER NOT NULL DEFAULT 0,
  last_problem     TEXT NOT NULL DEFAULT '' -- why it could not be made, or the first that was found
);
INSERT INTO row_checks (id) VALUES (1);
