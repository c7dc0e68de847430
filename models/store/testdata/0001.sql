PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-20 12:19:56');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-20 12:19:56');
CREATE TABLE users (
  id            TEXT PRIMARY KEY,
  email         TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name          TEXT NOT NULL,
  role          TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  password_hash TEXT NOT NULL,
  created_at    DATETIME NOT NULL,
  disabled_at   DATETIME
) WITHOUT ROWID;
INSERT INTO users VALUES('01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','admin@example.com','Ada Admin','admin','$argon2id$v=19$m=8,t=1,p=1$fxnHwvRmHlekw02fjDBbGA$T2NQsXYOTCpFSCIlhGvtxbZVN3cyrznrV5H8+bpwXn0','2026-03-02 12:01:00+00:00',NULL);
INSERT INTO users VALUES('01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','owner@example.com','reviewer','$argon2id$v=19$m=8,t=1,p=1$Qqvn7bFpjKyeMbcNTm5elw$2wpEWG9rWAvm7I69vM6Du6R8Ymn6xtwOmhcPZosLYXY','2026-03-02 12:01:00+00:00',NULL);
INSERT INTO users VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','finance@example.com','finance@example.com','reviewer','$argon2id$v=19$m=8,t=1,p=1$x+ceRrso2j7i+Dsr44MDfg$lNW5rhEdNpdpYCDf5JflJTYElSnnsSQTtmCHCYrRqFU','2026-03-02 12:02:00+00:00',NULL);
INSERT INTO users VALUES('01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0','gone@example.com','gone@example.com','reviewer','$argon2id$v=19$m=8,t=1,p=1$W5jzLhL1/QNg2ZKrS6GODg$mpIUI8fu0ujbuxcdcnxvPx1UdGfr7YJ6cUf31qXn3vc','2026-03-02 12:03:00+00:00','2026-03-02 12:04:00+00:00');
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
INSERT INTO web_sessions VALUES('01a1f8e6-2d46-7630-92ae-ab4a500e4541',X'af986f9b667ccd27671ca4a6c33be397a49724a4e2107e8d2d77d6d6f7a2e5dc','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','2026-03-02 12:08:00+00:00','2026-03-02 12:08:00+00:00','2026-03-16 12:08:00+00:00','192.0.2.1','test',NULL);
INSERT INTO web_sessions VALUES('01a1f8e6-2d48-7255-a02f-41c50f4502ee',X'60a6163f4a8ff8e2020c1ac53aa861621dd1f4dd2c0a9ee4f805abd827b1c43f','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','2026-03-02 12:08:00+00:00','2026-03-02 12:08:00+00:00','2026-03-16 12:08:00+00:00','192.0.2.1','test',NULL);
CREATE TABLE signin_failures (
  id      INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  at      DATETIME NOT NULL
);
INSERT INTO signin_failures VALUES(1,'cb358655a93d2e81ca808e35085b6cf592333428af0b979a5ac8cb844eda143d','198.51.100.7','2026-03-02 12:09:00+00:00');
INSERT INTO signin_failures VALUES(2,'cb358655a93d2e81ca808e35085b6cf592333428af0b979a5ac8cb844eda143d','198.51.100.7','2026-03-02 12:09:00+00:00');
CREATE TABLE setup_links (
  secret_hash BLOB PRIMARY KEY,
  created_at  DATETIME NOT NULL,
  used_at     DATETIME
) WITHOUT ROWID;
INSERT INTO setup_links VALUES(X'c8037b5f0cf1ab60639bf1e1507d8f09fc62cb5fb90e0382efa5463ce1acaa9e','2026-03-02 12:00:00+00:00','2026-03-02 12:01:00+00:00');
CREATE TABLE agents (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL REFERENCES users (id),
  name        TEXT NOT NULL,
  created_at  DATETIME NOT NULL,
  disabled_at DATETIME,
  UNIQUE (owner_id, name)
) WITHOUT ROWID;
INSERT INTO agents VALUES('01a1f8e6-2d41-7c94-aa08-0c97a00cb517','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','deployer','2026-03-02 12:06:00+00:00',NULL);
CREATE TABLE tokens (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  hint         TEXT NOT NULL,
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
INSERT INTO tokens VALUES('01a1f8e6-2d41-7a68-92be-7823241f9566',X'24c7a246817e603282ef42930caa8f6c0c7eb95d9a601ffd47988371bb838be8','cs_agent_s87BHN','agent','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','2026-03-02 12:06:00+00:00',NULL,NULL,'2026-03-02 12:06:00+00:00');
INSERT INTO tokens VALUES('01a1f8e6-2d42-7e81-bada-2a38960022eb',X'76483b79cf078613af85d6ce08e27660802da720c0e2721f53ef8ae9b534b9cf','cs_rev_J7FYaN','reviewer','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',NULL,'old','2026-03-02 12:07:00+00:00','2026-03-02 13:07:00+00:00','2026-03-02 12:07:00+00:00',NULL);
INSERT INTO tokens VALUES('01a1f8e6-2d44-7278-b2f9-1c30bf4a4041',X'ed857a799b0e45683aff07d233a1effa6af2f0b269824e286a7ac3f15383b138','cs_rev_VQYxgi','reviewer','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',NULL,'reviewer','2026-03-02 12:07:00+00:00',NULL,NULL,'2026-03-02 12:07:00+00:00');
INSERT INTO tokens VALUES('01a1f8e6-2d44-7c5a-b917-0209dbadb88b',X'8cdb93586f0aaab3290407bdb6bfa49bb5faeb47958961fd8933a5a357f7f6a2','cs_adm_ZeGDF2','admin','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',NULL,'admin','2026-03-02 12:07:00+00:00',NULL,NULL,'2026-03-02 12:07:00+00:00');
CREATE TABLE policies (
  version     INTEGER PRIMARY KEY,
  document    TEXT NOT NULL,
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  note        TEXT NOT NULL,
  created_at  DATETIME NOT NULL
);
INSERT INTO policies VALUES(1,replace('{\n  "approval_enabled": true,\n  "required_approval_tools": [],\n  "default_timeout_minutes": 5,\n  "max_timeout_minutes": 1440,\n  "proposal_timeout_minutes": null,\n  "fallback_auto_approve": false,\n  "unmatched": "allow",\n  "rules": []\n}','\n',char(10)),'','Countersign','The initial policy.','2026-03-02 12:00:00+00:00');
INSERT INTO policies VALUES(2,replace('{\n  "approval_enabled": true,\n  "required_approval_tools": [\n    "Bash"\n  ],\n  "default_timeout_minutes": 5,\n  "max_timeout_minutes": 1440,\n  "proposal_timeout_minutes": null,\n  "fallback_auto_approve": false,\n  "unmatched": "allow",\n  "rules": [\n    {\n      "name": "never drop",\n      "tools": [\n        "/^db\\.drop/"\n      ],\n      "effect": "deny",\n      "risk": "medium",\n      "reason": "Data is only ever archived."\n    },\n    {\n      "name": "payments",\n      "tools": [\n        "/^payment\\./"\n      ],\n      "effect": "require",\n      "timeout_minutes": 1440,\n      "risk": "high",\n      "reviewers": [\n        "finance@example.com"\n      ],\n      "reason": "Money leaves the account."\n    },\n    {\n      "name": "reading",\n      "tools": [\n        "Read"\n      ],\n      "effect": "allow",\n      "risk": "low"\n    }\n  ]\n}','\n',char(10)),'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','Ada Admin','The first real one.','2026-03-02 12:05:00+00:00');
CREATE TABLE conversations (
  id              TEXT PRIMARY KEY,
  owner_id        TEXT NOT NULL REFERENCES users (id),
  agent_id        TEXT NOT NULL REFERENCES agents (id),
  run_id          TEXT,
  parent_run_id   TEXT,
  title           TEXT NOT NULL DEFAULT '',
  status          TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'waiting_input', 'completed', 'failed')),
  standing        BOOLEAN NOT NULL DEFAULT FALSE,
  on_reject       TEXT NOT NULL DEFAULT 'continue' CHECK (on_reject IN ('cascade', 'continue')),
  next_sequence   INTEGER NOT NULL DEFAULT 1,
  energy_budget   INTEGER CHECK (energy_budget >= 0),
  energy_used     INTEGER NOT NULL DEFAULT 0 CHECK (energy_used >= 0),
  energy_reserved INTEGER NOT NULL DEFAULT 0 CHECK (energy_reserved >= 0),
  created_at      DATETIME NOT NULL,
  updated_at      DATETIME NOT NULL
) WITHOUT ROWID;
INSERT INTO conversations VALUES('01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-1',NULL,'','running',0,'continue',4,NULL,3,0,'2026-03-02 12:11:00+00:00','2026-03-02 12:15:00+00:00');
INSERT INTO conversations VALUES('01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-2',NULL,'','running',0,'continue',4,NULL,3,0,'2026-03-02 12:17:00+00:00','2026-03-02 12:20:00+00:00');
INSERT INTO conversations VALUES('01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517',NULL,NULL,'','running',1,'continue',3,NULL,2,0,'2026-03-02 12:21:00+00:00','2026-03-02 12:22:00+00:00');
INSERT INTO conversations VALUES('01a1f8e6-2d52-76d2-b370-17ec4d96e7c3','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-3',NULL,'','running',0,'continue',3,NULL,2,0,'2026-03-02 14:23:00+00:00','2026-03-02 14:24:00+00:00');
CREATE TABLE responses (
  number                INTEGER PRIMARY KEY, -- order of arrival: agents choose ids, so these do not sort by time
  id                    TEXT NOT NULL UNIQUE,
  conversation_id       TEXT NOT NULL REFERENCES conversations (id),
  sequence              INTEGER NOT NULL,
  owner_id              TEXT NOT NULL REFERENCES users (id),
  agent_id              TEXT NOT NULL REFERENCES agents (id),
  kind                  TEXT NOT NULL CHECK (kind IN ('reply', 'proposal', 'tool_call', 'question', 'budget')),
  created_at            DATETIME NOT NULL,

  tool_use_id           TEXT,
  job_id                TEXT,
  call_id               TEXT,
  upstream_id           TEXT,
  approval_id           TEXT,
  batch_id              TEXT,

  digest                TEXT NOT NULL,
  risk                  TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
  requires_approval     BOOLEAN NOT NULL DEFAULT FALSE,
  approval_status       TEXT CHECK (approval_status IN ('pending', 'approved', 'rejected', 'expired', 'cancelled', 'resolved')),
  approval_timestamp    DATETIME,
  approval_feedback     TEXT NOT NULL DEFAULT '',
  cause                 TEXT NOT NULL DEFAULT '' CHECK (cause IN ('', 'reviewer', 'policy', 'grant', 'gate_off', 'fallback', 'timeout', 'cancelled',
                          'cascade', 'no_reviewer', 'undelivered', 'elsewhere', 'gone', 'run_ended', 'stopped')),
  policy_version        INTEGER NOT NULL DEFAULT 0,
  policy_rule           TEXT NOT NULL DEFAULT '',
  policy_reason         TEXT NOT NULL DEFAULT '',
  approval_requested_at DATETIME,
  approval_timeout_at   DATETIME NOT NULL DEFAULT '9999-12-31 00:00:00+00:00',
  held_until            DATETIME,
  paused_left           INTEGER,
  decided_by            TEXT REFERENCES users (id),
  vote_id               TEXT REFERENCES votes (id),
  grant_id              TEXT,
  cascaded_from         TEXT,
  reasked_from          TEXT,

  is_completed          BOOLEAN NOT NULL DEFAULT FALSE,
  completed_at          DATETIME,

  energy                INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  energy_budget         INTEGER CHECK (energy_budget >= 0),
  model_used            TEXT NOT NULL DEFAULT '',

  description           TEXT NOT NULL DEFAULT '',
  context               TEXT NOT NULL DEFAULT '',
  options               TEXT NOT NULL DEFAULT '',
  content               TEXT NOT NULL DEFAULT '',
  tool_name             TEXT NOT NULL DEFAULT '',
  tool_input_json       TEXT NOT NULL DEFAULT '',
  answer                TEXT NOT NULL DEFAULT '',
  tool_result           TEXT NOT NULL DEFAULT ''
);
INSERT INTO responses VALUES(1,'01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','01a1f8e6-2d4a-7721-b13c-36916b4170c5',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:11:00+00:00','approved',NULL,NULL,NULL,NULL,NULL,'29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774','medium',1,'approved','2026-03-02 12:12:00+00:00','Go on.','reviewer',2,'required_approval_tools','The policy lists this tool among those that need approval.','2026-03-02 12:11:00+00:00','2026-03-02 12:16:00+00:00',NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4b-75eb-8f50-0d0c4b73e928',NULL,NULL,NULL,0,NULL,1,NULL,'','build it','','','','Bash','{"command":"make"}','','');
INSERT INTO responses VALUES(2,'01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','01a1f8e6-2d4a-7721-b13c-36916b4170c5',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:13:00+00:00','rejected','job-7',NULL,NULL,NULL,NULL,'154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133','medium',1,'rejected','2026-03-02 12:14:00+00:00','Never.','reviewer',2,'required_approval_tools','The policy lists this tool among those that need approval.','2026-03-02 12:13:00+00:00','2026-03-02 12:18:00+00:00',NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4c-7703-8ab2-f5380428254e',NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','Bash','{"command":"rm -rf /"}','','');
INSERT INTO responses VALUES(3,'01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','01a1f8e6-2d4a-7721-b13c-36916b4170c5',3,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:15:00+00:00','edited',NULL,NULL,NULL,NULL,NULL,'a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c','high',1,'approved','2026-03-02 12:16:00+00:00','','reviewer',2,'payments','Money leaves the account.','2026-03-02 12:15:00+00:00','2026-03-03 12:15:00+00:00',NULL,NULL,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d4d-7952-96e0-4564288c3156',NULL,NULL,NULL,0,NULL,1,NULL,'','','invoice 4711','','','payment.send','{"amount":9007199254740993}','','');
INSERT INTO responses VALUES(4,'01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','01a1f8e6-2d4e-7268-909b-fad5a3207582',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','question','2026-03-02 12:17:00+00:00','answered',NULL,NULL,NULL,NULL,NULL,'9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf','medium',1,'approved','2026-03-02 12:18:00+00:00','','reviewer',2,'explicit ask','Only a person can answer a question.','2026-03-02 12:17:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7cdb-92ef-d8f1d42a4ada',NULL,NULL,NULL,0,NULL,1,NULL,'','Which region first?','','[{"name":"eu","title":"Europe"},{"name":"us","title":"America"}]','','question','{}','Europe first ‮','');
INSERT INTO responses VALUES(5,'01a1f8e6-2d4f-750d-a6cd-c512209a74a0','01a1f8e6-2d4e-7268-909b-fad5a3207582',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:19:00+00:00','denied',NULL,NULL,NULL,NULL,NULL,'82bc14ddd1a4f7a4942c416fea3be5380f2e8208936be85f9f51378619f83a22','medium',1,'rejected','2026-03-02 12:19:00+00:00','Data is only ever archived.','policy',2,'never drop','Data is only ever archived.','2026-03-02 12:19:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','db.drop_all','{}','','');
INSERT INTO responses VALUES(6,'01a1f8e6-2d4f-7c3a-937b-410310df4dc7','01a1f8e6-2d4e-7268-909b-fad5a3207582',3,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:20:00+00:00','let-through',NULL,NULL,NULL,NULL,NULL,'a0fff715e9a4c6ce8c1a71b4f6bb39e89ce8d067e7a3c08d335737acd4674212','low',0,NULL,NULL,'','policy',2,'reading','The rule “reading” lets this tool through.',NULL,'9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','Read','{"path":"a"}','','');
INSERT INTO responses VALUES(7,'01a1f8e6-2d50-73af-bb31-ab1507a4ce31','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:21:00+00:00','cancelled',NULL,NULL,NULL,NULL,NULL,'bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab','medium',1,'cancelled','2026-03-02 12:21:00+00:00','withdrawn by the agent','cancelled',2,'required_approval_tools','The policy lists this tool among those that need approval.','2026-03-02 12:21:00+00:00','2026-03-02 12:26:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','Bash','{}','','');
INSERT INTO responses VALUES(8,'01a1f8e6-2d51-7584-967f-4978de5a5551','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:22:00+00:00','expired',NULL,NULL,NULL,NULL,NULL,'bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab','medium',1,'expired','2026-03-02 12:27:00+00:00','Approval request timed out (5 minutes)','timeout',2,'required_approval_tools','The policy lists this tool among those that need approval.','2026-03-02 12:22:00+00:00','2026-03-02 12:27:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','Bash','{}','','');
INSERT INTO responses VALUES(9,'01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 14:23:00+00:00','pending',NULL,NULL,NULL,NULL,NULL,'5c187b57c628c6a560b00699609cce5c91e61493bc7f9c66e1f531a626db6e4d','high',1,'pending',NULL,'','',2,'payments','Money leaves the account.','2026-03-02 14:23:00+00:00','2026-03-03 14:23:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','','','','','payment.refund','{"amount":5}','','');
INSERT INTO responses VALUES(10,'01a1f8e6-2d53-71f5-bc92-ddbd98d649f5','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','question','2026-03-02 14:24:00+00:00','open question',NULL,NULL,NULL,NULL,NULL,'9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf','medium',1,'pending',NULL,'','',2,'explicit ask','Only a person can answer a question.','2026-03-02 14:24:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,1,NULL,'','Shall we go on?','','','','question','{}','','');
CREATE TABLE votes (
  id           TEXT PRIMARY KEY,
  response_id  TEXT NOT NULL REFERENCES responses (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  user_name    TEXT NOT NULL,
  verdict      TEXT NOT NULL CHECK (verdict IN ('approve', 'reject', 'answer')),
  reason       TEXT NOT NULL DEFAULT '',
  digest       TEXT NOT NULL,
  seen_digest  TEXT NOT NULL DEFAULT '',
  input        TEXT,
  input_digest TEXT,
  answer       TEXT,
  option       TEXT,
  at           DATETIME NOT NULL,
  withdrawn_at DATETIME
) WITHOUT ROWID;
INSERT INTO votes VALUES('01a1f8e6-2d4b-75eb-8f50-0d0c4b73e928','01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','approve','Go on.','29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774','29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774',NULL,NULL,NULL,NULL,'2026-03-02 12:12:00+00:00',NULL);
INSERT INTO votes VALUES('01a1f8e6-2d4c-7703-8ab2-f5380428254e','01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','reject','Never.','154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133','154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133',NULL,NULL,NULL,NULL,'2026-03-02 12:14:00+00:00',NULL);
INSERT INTO votes VALUES('01a1f8e6-2d4d-7952-96e0-4564288c3156','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','finance@example.com','approve','','a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c','a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c','{"amount":10}','da2ba95d45df7aff43f36f72f4214c08ae0ad5f217d713c0e0b0198f58b0c78c',NULL,NULL,'2026-03-02 12:16:00+00:00',NULL);
INSERT INTO votes VALUES('01a1f8e6-2d4e-7cdb-92ef-d8f1d42a4ada','01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','answer','','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf',NULL,NULL,'Europe first ‮',NULL,'2026-03-02 12:18:00+00:00',NULL);
CREATE TABLE deciders (
  user_id     TEXT NOT NULL,
  deadline    DATETIME NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (user_id, deadline, response_id)
) WITHOUT ROWID;
INSERT INTO deciders VALUES('01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','2026-03-03 14:23:00+00:00','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93');
INSERT INTO deciders VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','2026-03-03 14:23:00+00:00','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93');
INSERT INTO deciders VALUES('01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','9999-12-31 00:00:00+00:00','01a1f8e6-2d53-71f5-bc92-ddbd98d649f5');
CREATE TABLE reviewers (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id),
  PRIMARY KEY (user_id, response_id)
) WITHOUT ROWID;
INSERT INTO reviewers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98');
INSERT INTO reviewers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93');
CREATE TABLE ledger (
  seq             INTEGER PRIMARY KEY,
  at              TEXT NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system', 'operator')),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  action          TEXT NOT NULL,
  owner_id        TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  response_id     TEXT NOT NULL,
  data            TEXT NOT NULL,
  prev            BLOB NOT NULL,
  hash            BLOB NOT NULL
);
INSERT INTO ledger VALUES(1,'2026-03-02T12:00:00.000000Z','system','','policy','policy.changed','','','','{"digest":"87b3368d5e246311e12960487f607a866a6b6dcc98c57f72d712af4752b05713","version":1}',X'',X'6147813ef5aec10d75375b1f779287b1df597a1966f866df32cb2c5f8388a96f');
INSERT INTO ledger VALUES(2,'2026-03-02T12:00:00.000000Z','operator','','tester','setup_link.made','','','','{}',X'6147813ef5aec10d75375b1f779287b1df597a1966f866df32cb2c5f8388a96f',X'd21a3d4a0b892ed637f95cece6c81bb03d50d90af0d277a26071bfe3b8900768');
INSERT INTO ledger VALUES(3,'2026-03-02T12:01:00.000000Z','user','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','Ada Admin','setup_link.used','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','','','{}',X'd21a3d4a0b892ed637f95cece6c81bb03d50d90af0d277a26071bfe3b8900768',X'ed7563a71dfb33a6b16a3d39c127c329884545e04d068abbe0a19dfedbca05b1');
INSERT INTO ledger VALUES(4,'2026-03-02T12:01:00.000000Z','user','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','Ada Admin','user.added','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','','','{"userId":"01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f","email":"admin@example.com","name":"Ada Admin","role":"admin"}',X'ed7563a71dfb33a6b16a3d39c127c329884545e04d068abbe0a19dfedbca05b1',X'daeec4003e2620ec7aa0a8b6754981a263eb315333c91cf121bf71464aed70be');
INSERT INTO ledger VALUES(5,'2026-03-02T12:01:00.000000Z','operator','','tester','user.added','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','','','{"userId":"01a1f8e6-2d3e-7c08-beef-94185e5b9fb8","email":"owner@example.com","name":"owner@example.com","role":"reviewer"}',X'daeec4003e2620ec7aa0a8b6754981a263eb315333c91cf121bf71464aed70be',X'9699b365263acd53057c0c62d850792ea5bfec082f31d2ea04e3efcfe0d4339a');
INSERT INTO ledger VALUES(6,'2026-03-02T12:02:00.000000Z','operator','','tester','user.added','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','','','{"userId":"01a1f8e6-2d3f-74db-8cfc-a699eeacc7df","email":"finance@example.com","name":"finance@example.com","role":"reviewer"}',X'9699b365263acd53057c0c62d850792ea5bfec082f31d2ea04e3efcfe0d4339a',X'dc6dd8015f2a1641a35524160dc2be68b5be76b59601a9ef334e56bf81537d03');
INSERT INTO ledger VALUES(7,'2026-03-02T12:03:00.000000Z','operator','','tester','user.added','01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0','','','{"userId":"01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0","email":"gone@example.com","name":"gone@example.com","role":"reviewer"}',X'dc6dd8015f2a1641a35524160dc2be68b5be76b59601a9ef334e56bf81537d03',X'2e8ae5e632c722445ee99975456083ac2dfe0af1c4b91ee3bf2d0e7f286ec06b');
INSERT INTO ledger VALUES(8,'2026-03-02T12:04:00.000000Z','operator','','tester','user.disabled','01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0','','','{"userId":"01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0","email":"gone@example.com"}',X'2e8ae5e632c722445ee99975456083ac2dfe0af1c4b91ee3bf2d0e7f286ec06b',X'e65a152b28aa5bc8f81c8b1cb9ed82938248c631692e67a45495387c91eb85ee');
INSERT INTO ledger VALUES(9,'2026-03-02T12:05:00.000000Z','user','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','Ada Admin','policy.changed','','','','{"digest":"35ae0ce724b6971dc310295cbd2cb8b5d3185414ee2ab597f83cadb453f4dd02","version":2}',X'e65a152b28aa5bc8f81c8b1cb9ed82938248c631692e67a45495387c91eb85ee',X'8e86d5d8ebf58dcd434895135ca9cfb7956bf89b0b4935377e883f73b23bd839');
INSERT INTO ledger VALUES(10,'2026-03-02T12:06:00.000000Z','operator','','tester','agent.registered','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','','','{"agentId":"01a1f8e6-2d41-7c94-aa08-0c97a00cb517","name":"deployer"}',X'8e86d5d8ebf58dcd434895135ca9cfb7956bf89b0b4935377e883f73b23bd839',X'bed46403e6f82843356aea81e5085dbfb8f5ff15b578421b726816c9e6d067de');
INSERT INTO ledger VALUES(11,'2026-03-02T12:06:00.000000Z','operator','','tester','token.added','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','','','{"tokenId":"01a1f8e6-2d41-7a68-92be-7823241f9566","scope":"agent","name":"deployer","agentId":"01a1f8e6-2d41-7c94-aa08-0c97a00cb517"}',X'bed46403e6f82843356aea81e5085dbfb8f5ff15b578421b726816c9e6d067de',X'458dd486b5ed9979d2fb79467f0cea27bcc159bb48209cac44c5d185da66f525');
INSERT INTO ledger VALUES(12,'2026-03-02T12:07:00.000000Z','operator','','tester','token.added','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','','','{"tokenId":"01a1f8e6-2d42-7e81-bada-2a38960022eb","scope":"reviewer","name":"old","expiresAt":"2026-03-02T13:07:00Z"}',X'458dd486b5ed9979d2fb79467f0cea27bcc159bb48209cac44c5d185da66f525',X'cd93086287b9850aee3702188f38b087011c80be5f6f801ac66d762a2c403867');
INSERT INTO ledger VALUES(13,'2026-03-02T12:07:00.000000Z','operator','','tester','token.revoked','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','','','{"tokenId":"01a1f8e6-2d42-7e81-bada-2a38960022eb","scope":"reviewer","name":"old","expiresAt":"2026-03-02T13:07:00Z"}',X'cd93086287b9850aee3702188f38b087011c80be5f6f801ac66d762a2c403867',X'dd7b6eb747291bb327d0b4231738122b0d85c7b8da46c8077c4e1326dda0ec6b');
INSERT INTO ledger VALUES(14,'2026-03-02T12:07:00.000000Z','operator','','tester','token.added','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','','','{"tokenId":"01a1f8e6-2d44-7278-b2f9-1c30bf4a4041","scope":"reviewer","name":"reviewer"}',X'dd7b6eb747291bb327d0b4231738122b0d85c7b8da46c8077c4e1326dda0ec6b',X'a06b6652b8023f510a6056e75a2018fd28c251680878d77501a0bf6411a0c61c');
INSERT INTO ledger VALUES(15,'2026-03-02T12:07:00.000000Z','operator','','tester','token.added','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','','','{"tokenId":"01a1f8e6-2d44-7c5a-b917-0209dbadb88b","scope":"admin","name":"admin"}',X'a06b6652b8023f510a6056e75a2018fd28c251680878d77501a0bf6411a0c61c',X'2301dae0818fe2725e2007552fd0d64710ded46b5061561d08d89b08796468ed');
INSERT INTO ledger VALUES(16,'2026-03-02T12:08:00.000000Z','user','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','session.opened','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','','','{"sessionId":"01a1f8e6-2d46-7630-92ae-ab4a500e4541","address":"192.0.2.1"}',X'2301dae0818fe2725e2007552fd0d64710ded46b5061561d08d89b08796468ed',X'df5d0ff9d18fdec96ac923039af7d77eafb32e95fcd59489c5effae5970ed2d5');
INSERT INTO ledger VALUES(17,'2026-03-02T12:08:00.000000Z','user','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','Ada Admin','session.opened','01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f','','','{"sessionId":"01a1f8e6-2d48-7255-a02f-41c50f4502ee","address":"192.0.2.1"}',X'df5d0ff9d18fdec96ac923039af7d77eafb32e95fcd59489c5effae5970ed2d5',X'b69b2ad2f841cb2dcda16421af102166a4f209054b1c4cde2658aa616e9571aa');
INSERT INTO ledger VALUES(18,'2026-03-02T12:11:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','conversation.opened','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','','{"standing":false}',X'b69b2ad2f841cb2dcda16421af102166a4f209054b1c4cde2658aa616e9571aa',X'79ab1656543594d275a2d08d282556f0bf604380aca2a546bd2f58eeec9e1ba4');
INSERT INTO ledger VALUES(19,'2026-03-02T12:11:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','{"kind":"tool_call","tool":"Bash","sequence":1,"digest":"29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774","risk":"medium","status":"pending","policy_version":2,"policy_rule":"required_approval_tools","deadline":"2026-03-02T12:16:00.000000Z","energy":1}',X'79ab1656543594d275a2d08d282556f0bf604380aca2a546bd2f58eeec9e1ba4',X'cbfe108569e16e83fd8c1d21af3995e8f3bd1e424775b83dfcab1b9afa61592c');
INSERT INTO ledger VALUES(20,'2026-03-02T12:12:00.000000Z','user','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','approval.approved','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','{"digest":"29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774","status":"approved","cause":"reviewer","verdict":"approve","reason_digest":"2d26830f390e04133caa7cb03d4a61815d1a38c5dc53d6930b30bdf16f0226eb","digest_seen":true}',X'cbfe108569e16e83fd8c1d21af3995e8f3bd1e424775b83dfcab1b9afa61592c',X'9f37d4db6e0d05935225df2de10d495915e231ea0186513bfddcbd633f4b6dda');
INSERT INTO ledger VALUES(21,'2026-03-02T12:13:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','{"kind":"tool_call","tool":"Bash","sequence":2,"digest":"154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133","risk":"medium","status":"pending","policy_version":2,"policy_rule":"required_approval_tools","deadline":"2026-03-02T12:18:00.000000Z","energy":1}',X'9f37d4db6e0d05935225df2de10d495915e231ea0186513bfddcbd633f4b6dda',X'e7519a2612f64419828de4cfb4aa593f287e2a3a921f2aee946ecb79cb06c20b');
INSERT INTO ledger VALUES(22,'2026-03-02T12:14:00.000000Z','user','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','approval.rejected','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','{"digest":"154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133","status":"rejected","cause":"reviewer","verdict":"reject","reason_digest":"955fc6072ffd53861cb0c42e9e237f079b3755d522adec48103b021f1b70f382","digest_seen":true}',X'e7519a2612f64419828de4cfb4aa593f287e2a3a921f2aee946ecb79cb06c20b',X'b36bc0c00248f15774272c1a7a281b4b3b07bf0128e39d18a1c3a384fecd3ef6');
INSERT INTO ledger VALUES(23,'2026-03-02T12:15:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','{"kind":"tool_call","tool":"payment.send","sequence":3,"digest":"a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c","risk":"high","status":"pending","policy_version":2,"policy_rule":"payments","deadline":"2026-03-03T12:15:00.000000Z","energy":1}',X'b36bc0c00248f15774272c1a7a281b4b3b07bf0128e39d18a1c3a384fecd3ef6',X'2f175e129f6c018c70089435157e3f634814d90b1f5e4cf8a682b0067aa96eed');
INSERT INTO ledger VALUES(24,'2026-03-02T12:16:00.000000Z','user','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','finance@example.com','approval.approved','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','{"digest":"a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c","status":"approved","cause":"reviewer","verdict":"approve","edited_digest":"da2ba95d45df7aff43f36f72f4214c08ae0ad5f217d713c0e0b0198f58b0c78c","digest_seen":true}',X'2f175e129f6c018c70089435157e3f634814d90b1f5e4cf8a682b0067aa96eed',X'0ea30544827f7066f910da1e7561b2cf6068eba496e32ed33fd12156e144486a');
INSERT INTO ledger VALUES(25,'2026-03-02T12:17:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','conversation.opened','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7268-909b-fad5a3207582','','{"standing":false}',X'0ea30544827f7066f910da1e7561b2cf6068eba496e32ed33fd12156e144486a',X'29aa5da5dd63ad871abd5ae8de9c59972ee2a9ec416b5ca8ff18b1a8d7c05c9f');
INSERT INTO ledger VALUES(26,'2026-03-02T12:17:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','{"kind":"question","tool":"question","sequence":1,"digest":"9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf","risk":"medium","status":"pending","policy_version":2,"policy_rule":"explicit ask","energy":1}',X'29aa5da5dd63ad871abd5ae8de9c59972ee2a9ec416b5ca8ff18b1a8d7c05c9f',X'9f196e4e2f00e86482e0010a4f72b3ce10c0776499cf6c96967b27fb6feea758');
INSERT INTO ledger VALUES(27,'2026-03-02T12:18:00.000000Z','user','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','approval.approved','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','{"digest":"9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf","status":"approved","cause":"reviewer","verdict":"answer","answer_digest":"bdda9a5ec42d64911a667d3bb3a6a30dec011f6ccff55a9ebfc4dffe0b8cf88a","digest_seen":true}',X'9f196e4e2f00e86482e0010a4f72b3ce10c0776499cf6c96967b27fb6feea758',X'de88e246529b41bcc3f6d77e454a07299363a24b0b06e386bdaccee80421c03f');
INSERT INTO ledger VALUES(28,'2026-03-02T12:19:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.rejected','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d4f-750d-a6cd-c512209a74a0','{"kind":"tool_call","tool":"db.drop_all","sequence":2,"digest":"82bc14ddd1a4f7a4942c416fea3be5380f2e8208936be85f9f51378619f83a22","risk":"medium","status":"rejected","cause":"policy","policy_version":2,"policy_rule":"never drop","energy":1}',X'de88e246529b41bcc3f6d77e454a07299363a24b0b06e386bdaccee80421c03f',X'8321fa14ae3f163951bf7a7f6214e36f103a277804f1abcd47e1e27259bdffe7');
INSERT INTO ledger VALUES(29,'2026-03-02T12:20:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.let_through','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d4f-7c3a-937b-410310df4dc7','{"kind":"tool_call","tool":"Read","sequence":3,"digest":"a0fff715e9a4c6ce8c1a71b4f6bb39e89ce8d067e7a3c08d335737acd4674212","risk":"low","status":"let_through","cause":"policy","policy_version":2,"policy_rule":"reading","energy":1}',X'8321fa14ae3f163951bf7a7f6214e36f103a277804f1abcd47e1e27259bdffe7',X'161484fda3d5ee2b14b7cf0f50712af671a01e64afc25057701147f7bf322124');
INSERT INTO ledger VALUES(30,'2026-03-02T12:21:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','conversation.opened','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','','{"standing":true}',X'161484fda3d5ee2b14b7cf0f50712af671a01e64afc25057701147f7bf322124',X'423ea4d7656c6b4091a12cff632795ae5eb8223c3fa196b68c5f7fba1f544aa8');
INSERT INTO ledger VALUES(31,'2026-03-02T12:21:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d50-73af-bb31-ab1507a4ce31','{"kind":"tool_call","tool":"Bash","sequence":1,"digest":"bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab","risk":"medium","status":"pending","policy_version":2,"policy_rule":"required_approval_tools","deadline":"2026-03-02T12:26:00.000000Z","energy":1}',X'423ea4d7656c6b4091a12cff632795ae5eb8223c3fa196b68c5f7fba1f544aa8',X'9b924fca2f8c265c7961f4bac9cb7747266092f2865af034f812ae7b204ec803');
INSERT INTO ledger VALUES(32,'2026-03-02T12:21:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.cancelled','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d50-73af-bb31-ab1507a4ce31','{"digest":"bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab","status":"cancelled","cause":"cancelled","digest_seen":false}',X'9b924fca2f8c265c7961f4bac9cb7747266092f2865af034f812ae7b204ec803',X'2b0a2c7ae4df1b0565026076943f19d729498dcf8e1ec970d603a497bb65437f');
INSERT INTO ledger VALUES(33,'2026-03-02T12:22:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d51-7584-967f-4978de5a5551','{"kind":"tool_call","tool":"Bash","sequence":2,"digest":"bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab","risk":"medium","status":"pending","policy_version":2,"policy_rule":"required_approval_tools","deadline":"2026-03-02T12:27:00.000000Z","energy":1}',X'2b0a2c7ae4df1b0565026076943f19d729498dcf8e1ec970d603a497bb65437f',X'fe6d9cc44276a26e5b636d293b41b2431cbe7fd2f0d8a1c7d42b00da0f504f8d');
INSERT INTO ledger VALUES(34,'2026-03-02T14:22:00.000000Z','system','','expirer','approval.expired','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d51-7584-967f-4978de5a5551','{"digest":"bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab","status":"expired","cause":"timeout","digest_seen":false}',X'fe6d9cc44276a26e5b636d293b41b2431cbe7fd2f0d8a1c7d42b00da0f504f8d',X'754d1206b168cf3327eecd88be3bd305e5e46e59afc0098e079a4a3831472702');
INSERT INTO ledger VALUES(35,'2026-03-02T14:23:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','conversation.opened','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3','','{"standing":false}',X'754d1206b168cf3327eecd88be3bd305e5e46e59afc0098e079a4a3831472702',X'517a266e1c4efa88b4fafee36dbc6f1d294de838d6ad3723a42fafb9b293a17e');
INSERT INTO ledger VALUES(36,'2026-03-02T14:23:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93','{"kind":"tool_call","tool":"payment.refund","sequence":1,"digest":"5c187b57c628c6a560b00699609cce5c91e61493bc7f9c66e1f531a626db6e4d","risk":"high","status":"pending","policy_version":2,"policy_rule":"payments","deadline":"2026-03-03T14:23:00.000000Z","energy":1}',X'517a266e1c4efa88b4fafee36dbc6f1d294de838d6ad3723a42fafb9b293a17e',X'477bd4bfe2b5fa8bb274557d4bcb883fb169e10543058b66435cdd6dd3b814e5');
INSERT INTO ledger VALUES(37,'2026-03-02T14:24:00.000000Z','agent','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','deployer','approval.requested','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3','01a1f8e6-2d53-71f5-bc92-ddbd98d649f5','{"kind":"question","tool":"question","sequence":2,"digest":"9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf","risk":"medium","status":"pending","policy_version":2,"policy_rule":"explicit ask","energy":1}',X'477bd4bfe2b5fa8bb274557d4bcb883fb169e10543058b66435cdd6dd3b814e5',X'f5a022384a4d1412a1ff01be7b2acf14953d32f440852fc3a4297f81732a2660');
CREATE TABLE ledger_head (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  seq  INTEGER NOT NULL,
  hash BLOB NOT NULL
);
INSERT INTO ledger_head VALUES(1,37,X'f5a022384a4d1412a1ff01be7b2acf14953d32f440852fc3a4297f81732a2660');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',2);
CREATE INDEX users_enabled_admins ON users (id) WHERE role = 'admin' AND disabled_at IS NULL;
CREATE INDEX web_sessions_user ON web_sessions (user_id) WHERE revoked_at IS NULL;
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);
CREATE INDEX signin_failures_pair ON signin_failures (account, address, at);
CREATE INDEX signin_failures_address ON signin_failures (address, at);
CREATE INDEX signin_failures_at ON signin_failures (at);
CREATE INDEX tokens_user ON tokens (user_id, created_at);
CREATE INDEX tokens_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;
CREATE UNIQUE INDEX conversations_run ON conversations (owner_id, run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX conversations_standing ON conversations (agent_id) WHERE standing;
CREATE INDEX conversations_parent_run ON conversations (owner_id, parent_run_id, created_at) WHERE parent_run_id IS NOT NULL;
CREATE UNIQUE INDEX responses_history ON responses (conversation_id, sequence);
CREATE UNIQUE INDEX responses_tool_use ON responses (conversation_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_agent_tool_use ON responses (agent_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL;
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL;
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (conversation_id) WHERE kind = 'budget' AND approval_status = 'pending';
CREATE INDEX responses_pending ON responses (approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_agent ON responses (agent_id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_conversation ON responses (conversation_id, approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_settled ON responses (approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_owner ON responses (owner_id);
CREATE INDEX responses_agent ON responses (agent_id);
CREATE INDEX votes_response ON votes (response_id);
CREATE INDEX deciders_response ON deciders (response_id);
CREATE INDEX reviewers_response ON reviewers (response_id);
CREATE INDEX ledger_owner ON ledger (owner_id, seq) WHERE owner_id <> '';
CREATE INDEX ledger_actor ON ledger (actor_id, seq) WHERE actor_id <> '';
CREATE INDEX ledger_conversation ON ledger (conversation_id, seq) WHERE conversation_id <> '';
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_in_order BEFORE INSERT ON ledger
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'the ledger has no gaps'); END;
CREATE TRIGGER responses_begin BEFORE INSERT ON responses
WHEN NEW.approval_status IS NOT NULL AND NEW.approval_status <> 'pending'
  AND NOT (NEW.approval_status = 'rejected' AND NEW.cause IN ('policy', 'no_reviewer', 'cascade'))
BEGIN SELECT RAISE(ABORT, 'an approval begins as NULL, pending, or rejected by policy'); END;
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses
WHEN NEW.approval_status IS NOT OLD.approval_status
  -- coalesce: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS NULL AND coalesce(NEW.approval_status, '') IN ('pending', 'rejected'))
  AND NOT (coalesce(OLD.approval_status, '') = 'pending'
    AND coalesce(NEW.approval_status, '') IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved'))
BEGIN SELECT RAISE(ABORT, 'an approval moves from NULL to pending or rejected, and from pending once'); END
;
CREATE TRIGGER responses_content BEFORE UPDATE OF kind, digest, tool_name, tool_input_json, content, options, agent_id, owner_id ON responses
WHEN NEW.kind IS NOT OLD.kind OR NEW.digest IS NOT OLD.digest OR NEW.tool_name IS NOT OLD.tool_name
  OR NEW.tool_input_json IS NOT OLD.tool_input_json OR NEW.content IS NOT OLD.content OR NEW.options IS NOT OLD.options
  OR NEW.agent_id IS NOT OLD.agent_id OR NEW.owner_id IS NOT OLD.owner_id
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IN ('approved', 'rejected', 'expired', 'cancelled', 'resolved')
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are kept'); END;
COMMIT;
