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
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(8,7,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(9,8,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(10,9,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(11,10,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(12,11,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(13,12,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(14,13,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(15,14,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(16,15,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(17,16,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(18,17,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(19,18,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(20,19,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(21,20,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(22,21,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(23,22,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(24,23,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(25,24,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(26,25,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(27,26,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(28,27,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(29,28,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(30,29,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(31,30,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(32,31,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(33,32,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(34,33,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(35,34,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(36,35,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(37,36,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(38,37,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(39,38,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(40,39,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(41,40,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(42,41,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(43,42,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(44,43,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(45,44,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(46,45,1,'2026-11-26 19:05:44');
INSERT INTO goose_db_version VALUES(47,46,1,'2026-11-26 19:05:44');
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
  disabled_at DATETIME, system BOOLEAN NOT NULL DEFAULT FALSE,
  UNIQUE (owner_id, name)
) WITHOUT ROWID;
INSERT INTO agents VALUES('01a1f8e6-2d41-7c94-aa08-0c97a00cb517','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','deployer','2026-03-02 12:06:00+00:00',NULL,0);
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
, paused_at DATETIME, archived_at DATETIME, active_at DATETIME NOT NULL DEFAULT '1970-01-01 00:00:00+00:00', budget_added INTEGER NOT NULL DEFAULT 0 CHECK (budget_added >= 0), budget_refused TEXT, on_reject_by TEXT NOT NULL DEFAULT '' CHECK (on_reject_by IN ('', 'agent', 'person')), waits_for_request BOOLEAN NOT NULL DEFAULT FALSE CHECK (waits_for_request IN (FALSE, TRUE)), removed TEXT) WITHOUT ROWID;
INSERT INTO conversations VALUES('01a1f8e6-2d4a-7721-b13c-36916b4170c5','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-1',NULL,'','running',0,'continue',4,NULL,3,0,'2026-03-02 12:11:00+00:00','2026-03-02 12:15:00+00:00',NULL,NULL,'2026-03-02 12:15:00+00:00',0,NULL,'',0,NULL);
INSERT INTO conversations VALUES('01a1f8e6-2d4e-7268-909b-fad5a3207582','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-2',NULL,'','running',0,'continue',4,NULL,3,0,'2026-03-02 12:17:00+00:00','2026-03-02 12:20:00+00:00',NULL,NULL,'2026-03-02 12:20:00+00:00',0,NULL,'',0,NULL);
INSERT INTO conversations VALUES('01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517',NULL,NULL,'','running',1,'continue',3,NULL,2,0,'2026-03-02 12:21:00+00:00','2026-03-02 12:22:00+00:00',NULL,NULL,'2026-03-02 12:22:00+00:00',0,NULL,'',0,NULL);
INSERT INTO conversations VALUES('01a1f8e6-2d52-76d2-b370-17ec4d96e7c3','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','run-3',NULL,'','running',0,'continue',3,NULL,2,0,'2026-03-02 14:23:00+00:00','2026-03-02 14:24:00+00:00',NULL,NULL,'2026-03-02 14:24:00+00:00',0,NULL,'',0,NULL);
CREATE TABLE votes (
  id           TEXT PRIMARY KEY,
  response_id  TEXT NOT NULL REFERENCES responses (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  user_name    TEXT NOT NULL,
  verdict      TEXT NOT NULL CHECK (verdict = 'approve' OR verdict = 'reject' OR verdict = 'answer'),
  reason       TEXT NOT NULL DEFAULT '',
  digest       TEXT NOT NULL,
  seen_digest  TEXT NOT NULL DEFAULT '',
  input        TEXT,
  input_digest TEXT,
  answer       TEXT,
  option       TEXT,
  at           DATETIME NOT NULL,
  withdrawn_at DATETIME
, undo_until DATETIME, budget_set INTEGER, budget_delta INTEGER, waits_for TEXT NOT NULL DEFAULT '', checked TEXT NOT NULL DEFAULT '', behalf_of TEXT NOT NULL DEFAULT '', behalf_name TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
INSERT INTO votes VALUES('01a1f8e6-2d4b-75eb-8f50-0d0c4b73e928','01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','approve','Go on.','29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774','29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774',NULL,NULL,NULL,NULL,'2026-03-02 12:12:00+00:00',NULL,NULL,NULL,NULL,'','','','');
INSERT INTO votes VALUES('01a1f8e6-2d4c-7703-8ab2-f5380428254e','01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','reject','Never.','154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133','154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133',NULL,NULL,NULL,NULL,'2026-03-02 12:14:00+00:00',NULL,NULL,NULL,NULL,'','','','');
INSERT INTO votes VALUES('01a1f8e6-2d4d-7952-96e0-4564288c3156','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','finance@example.com','approve','','a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c','a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c','{"amount":10}','da2ba95d45df7aff43f36f72f4214c08ae0ad5f217d713c0e0b0198f58b0c78c',NULL,NULL,'2026-03-02 12:16:00+00:00',NULL,NULL,NULL,NULL,'','','','');
INSERT INTO votes VALUES('01a1f8e6-2d4e-7cdb-92ef-d8f1d42a4ada','01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','owner@example.com','answer','','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf',NULL,NULL,'Europe first ‮',NULL,'2026-03-02 12:18:00+00:00',NULL,NULL,NULL,NULL,'','','','');
CREATE TABLE deciders (
  user_id     TEXT NOT NULL,
  deadline    DATETIME NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (user_id, deadline, response_id)
) WITHOUT ROWID;
INSERT INTO deciders VALUES('01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','2026-03-03 14:23:00+00:00','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93');
INSERT INTO deciders VALUES('01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','9999-12-31 00:00:00+00:00','01a1f8e6-2d53-71f5-bc92-ddbd98d649f5');
INSERT INTO deciders VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','2026-03-03 14:23:00+00:00','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93');
CREATE TABLE reviewers (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id), tool_use_id TEXT, settled_at DATETIME, for_others BOOLEAN NOT NULL DEFAULT FALSE, number INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, response_id)
) WITHOUT ROWID;
INSERT INTO reviewers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','edited','2026-03-02 12:16:00+00:00',0,3);
INSERT INTO reviewers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93','pending',NULL,0,9);
CREATE TABLE ledger (
  seq             INTEGER PRIMARY KEY,
  at              TEXT NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind = 'user' OR actor_kind = 'agent' OR actor_kind = 'system' OR actor_kind = 'operator'),
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
, indexed INTEGER NOT NULL DEFAULT 0);
INSERT INTO ledger_head VALUES(1,37,X'f5a022384a4d1412a1ff01be7b2acf14953d32f440852fc3a4297f81732a2660',37);
CREATE TABLE invites (
  id           TEXT PRIMARY KEY,
  secret_hash  BLOB NOT NULL UNIQUE,
  email        TEXT NOT NULL COLLATE NOCASE,
  role         TEXT NOT NULL CHECK (role IN ('reviewer', 'admin')),
  invited_by   TEXT REFERENCES users (id),
  inviter_name TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME NOT NULL,
  used_at      DATETIME,
  withdrawn_at DATETIME
) WITHOUT ROWID;
CREATE TABLE ledger_readers (
  reader_id TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (reader_id, seq)
) WITHOUT ROWID;
INSERT INTO ledger_readers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',23);
INSERT INTO ledger_readers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',24);
INSERT INTO ledger_readers VALUES('01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',36);
CREATE TABLE messages (
  id              TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  author_kind     TEXT NOT NULL CHECK (author_kind IN ('user', 'agent', 'system')),
  author_id       TEXT NOT NULL,
  author_name     TEXT NOT NULL,
  content         TEXT NOT NULL,
  response_id     TEXT,
  created_at      DATETIME NOT NULL
, content_bytes INTEGER, removed TEXT) WITHOUT ROWID;
CREATE TABLE budget_steps (
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  sequence        INTEGER NOT NULL,
  at              DATETIME NOT NULL,
  actor_kind      TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system', 'operator')),
  actor_id        TEXT NOT NULL,
  actor_name      TEXT NOT NULL,
  old             INTEGER CHECK (old >= 0),
  new             INTEGER NOT NULL CHECK (new >= 0),
  reason          TEXT NOT NULL DEFAULT '',
  response_id     TEXT, removed TEXT,
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;
CREATE TABLE turns (
  conversation_id   TEXT NOT NULL REFERENCES conversations (id),
  sequence          INTEGER NOT NULL,
  at                DATETIME NOT NULL,
  model             TEXT NOT NULL,
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  energy            INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  said              TEXT NOT NULL, removed TEXT, -- JSON: content, calls with name, arguments, result or response
  PRIMARY KEY (conversation_id, sequence)
) WITHOUT ROWID;
CREATE TABLE agent_inbox (
  conversation_id TEXT PRIMARY KEY REFERENCES conversations (id),
  ready_at        DATETIME,
  lease           INTEGER NOT NULL DEFAULT 0,
  holder          TEXT NOT NULL DEFAULT '',
  leased_until    DATETIME,                   -- NULL: nobody works on it
  turns           INTEGER NOT NULL DEFAULT 0, -- since a person last did something
  attempts        INTEGER NOT NULL DEFAULT 0  -- of the model that failed, in a row
) WITHOUT ROWID;
CREATE TABLE run_events (
  conversation_id TEXT NOT NULL,
  key             TEXT NOT NULL,
  digest          BLOB NOT NULL, -- of what was reported under the key
  response_id     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (conversation_id, key)
) WITHOUT ROWID;
CREATE TABLE early_results (
  conversation_id TEXT NOT NULL,
  tool_use_id     TEXT NOT NULL,
  at              DATETIME NOT NULL,
  is_error        BOOLEAN NOT NULL,
  result_bytes    INTEGER,
  result          TEXT NOT NULL, removed TEXT,
  PRIMARY KEY (conversation_id, tool_use_id)
) WITHOUT ROWID;
CREATE TABLE upstreams (
  id              TEXT PRIMARY KEY,
  name            TEXT NOT NULL UNIQUE,
  base_url        TEXT NOT NULL,
  dialect         TEXT NOT NULL CHECK (dialect IN ('plain', 'cloud')),
  key_sealed      BLOB NOT NULL,
  owner_id        TEXT NOT NULL REFERENCES users (id),
  agent_id        TEXT NOT NULL REFERENCES agents (id), -- that its unmatched requests belong to
  created_at      DATETIME NOT NULL,
  disabled_at     DATETIME,
  next_poll_at    DATETIME NOT NULL,
  polled_at       DATETIME,                             -- begun last
  succeeded_at    DATETIME,
  failures        INTEGER NOT NULL DEFAULT 0,           -- in a row
  problem         TEXT NOT NULL DEFAULT ''              -- of the last poll, in words
, checked_address BOOLEAN NOT NULL DEFAULT FALSE, paused_at DATETIME) WITHOUT ROWID;
CREATE TABLE deliveries (
  response_id  TEXT PRIMARY KEY,
  upstream_id  TEXT NOT NULL,
  vote_id      TEXT NOT NULL,
  created_at   DATETIME NOT NULL,
  give_up_at   DATETIME NOT NULL,
  next_at      DATETIME NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  in_flight_at DATETIME,
  lost         BOOLEAN NOT NULL DEFAULT FALSE,
  problem      TEXT NOT NULL DEFAULT '',
  done_at      DATETIME,
  outcome      TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE leases (
  name   TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  holder TEXT NOT NULL,
  until  DATETIME NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (
  id          TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  number      INTEGER NOT NULL, -- 1, 2, 3 for each request
  author_kind TEXT NOT NULL CHECK (author_kind IN ('user', 'agent')),
  author_id   TEXT NOT NULL,
  author_name TEXT NOT NULL,
  asks        BOOLEAN NOT NULL,
  content     TEXT NOT NULL,
  at          DATETIME NOT NULL
, escalates BOOLEAN NOT NULL DEFAULT FALSE) WITHOUT ROWID;
CREATE TABLE opened_parts (
  user_id     TEXT NOT NULL,
  response_id TEXT NOT NULL,
  part        TEXT NOT NULL,
  at          DATETIME NOT NULL,
  PRIMARY KEY (user_id, response_id, part)
) WITHOUT ROWID;
CREATE TABLE grants (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL REFERENCES users (id),
  agent_id    TEXT NOT NULL REFERENCES agents (id),
  tool_name   TEXT NOT NULL,
  fixed       TEXT NOT NULL,
  free        TEXT NOT NULL,
  made_by     TEXT NOT NULL REFERENCES users (id),
  maker_name  TEXT NOT NULL,
  made_from   TEXT NOT NULL, -- the request it was made on
  created_at  DATETIME NOT NULL,
  expires_at  DATETIME NOT NULL,
  max_uses    INTEGER NOT NULL CHECK (max_uses > 0),
  uses        INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0 AND uses <= max_uses),
  used_at     DATETIME,
  revoked_at  DATETIME,
  revoked_by  TEXT,
  revoker_name TEXT NOT NULL DEFAULT ''
, removed TEXT) WITHOUT ROWID;
CREATE TABLE row_checks (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  last_begun_at    DATETIME,
  last_ended_at    DATETIME,
  last_rows        INTEGER NOT NULL DEFAULT 0,
  last_found       INTEGER NOT NULL DEFAULT 0,
  last_not_covered INTEGER NOT NULL DEFAULT 0,
  last_problem     TEXT NOT NULL DEFAULT '' -- why it could not be made, or the first that was found
);
INSERT INTO row_checks VALUES(1,NULL,NULL,0,0,0,'');
CREATE TABLE known_devices (
  secret_hash BLOB PRIMARY KEY,
  user_id     TEXT NOT NULL REFERENCES users (id),
  created_at  DATETIME NOT NULL,
  used_at     DATETIME NOT NULL
) WITHOUT ROWID;
CREATE TABLE position_key (
  id  INTEGER PRIMARY KEY CHECK (id = 1),
  key BLOB NOT NULL CHECK (length(key) = 16)
);
INSERT INTO position_key VALUES(1,X'8180cb4cdfda4229e3ebfa40e6c95a5a');
CREATE TABLE agent_energy (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  energy   INTEGER NOT NULL CHECK (energy >= 0),
  PRIMARY KEY (agent_id, minute)
) WITHOUT ROWID;
CREATE TABLE agent_windows (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  minute   INTEGER NOT NULL,
  hours    INTEGER NOT NULL CHECK (hours >= 1),
  spent    INTEGER NOT NULL CHECK (spent >= 0),
  allowed  INTEGER NOT NULL CHECK (allowed >= 0)
) WITHOUT ROWID;
CREATE TABLE agent_allowances (
  agent_id    TEXT NOT NULL REFERENCES agents (id),
  until       INTEGER NOT NULL,
  response_id TEXT NOT NULL,
  energy      INTEGER NOT NULL CHECK (energy >= 0),
  PRIMARY KEY (agent_id, until, response_id)
) WITHOUT ROWID;
CREATE TABLE withdrawals (
  vote_id     TEXT PRIMARY KEY,
  response_id TEXT NOT NULL,
  at          DATETIME NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('refused', 'withdrawn')),
  by_name     TEXT NOT NULL,
  status      INTEGER NOT NULL DEFAULT 0,
  said        TEXT NOT NULL DEFAULT '',
  lost        BOOLEAN NOT NULL DEFAULT FALSE -- an earlier attempt to tell it may have arrived
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "outside_approvals" (
  number      INTEGER PRIMARY KEY,
  upstream_id TEXT NOT NULL,
  call_id     TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('function_call', 'human_contact')),
  again       INTEGER NOT NULL DEFAULT 0,
  run_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  raw         TEXT NOT NULL,
  beside      TEXT NOT NULL DEFAULT '',
  first_at    DATETIME NOT NULL,
  timeout_at  DATETIME,
  polls       INTEGER NOT NULL DEFAULT 0, -- in which no call fitted
  response_id TEXT NOT NULL DEFAULT '',
  tool_use_id TEXT NOT NULL DEFAULT '',
  digest      TEXT NOT NULL DEFAULT '',   -- of tool and arguments; empty: nothing equals it
  waits       BOOLEAN NOT NULL DEFAULT FALSE,
  linked_id   TEXT NOT NULL DEFAULT '',
  linked_by   TEXT NOT NULL DEFAULT '' CHECK (linked_by IN ('', 'tool_use_id', 'input', 'order', 'only')),
  removed     TEXT,
  UNIQUE (upstream_id, call_id, kind, again)
);
CREATE TABLE IF NOT EXISTS "responses" (
  number                INTEGER PRIMARY KEY, -- order of arrival: agents choose ids, so these do not sort by time
  id                    TEXT NOT NULL UNIQUE,
  conversation_id       TEXT NOT NULL REFERENCES conversations (id),
  sequence              INTEGER NOT NULL,
  owner_id              TEXT NOT NULL REFERENCES users (id),
  agent_id              TEXT NOT NULL REFERENCES agents (id),
  kind                  TEXT NOT NULL CHECK (kind = 'tool_call' OR kind = 'question' OR kind = 'proposal' OR kind = 'reply' OR kind = 'budget'),
  created_at            DATETIME NOT NULL,
  claimed_at            DATETIME,

  tool_use_id           TEXT,
  job_id                TEXT,
  call_id               TEXT,
  upstream_id           TEXT,
  approval_id           TEXT,
  batch_id              TEXT,
  parent_tool_use_id    TEXT NOT NULL DEFAULT '',

  digest                TEXT NOT NULL,
  digest_version        INTEGER NOT NULL DEFAULT 1 CHECK (digest_version >= 1),
  risk                  TEXT NOT NULL CHECK (risk = 'low' OR risk = 'medium' OR risk = 'high' OR risk = 'critical'),
  asked                 BOOLEAN NOT NULL DEFAULT TRUE,
  requires_approval     BOOLEAN NOT NULL DEFAULT FALSE,
  approval_status       TEXT CHECK (approval_status = 'pending' OR approval_status = 'approved' OR approval_status = 'rejected' OR approval_status = 'expired' OR approval_status = 'cancelled' OR approval_status = 'resolved'),
  approval_timestamp    DATETIME,
  approval_feedback     TEXT CHECK (approval_feedback <> ''), -- NULL: there is none
  cause                 TEXT NOT NULL DEFAULT '' CHECK (cause = '' OR cause = 'reviewer' OR cause = 'policy' OR cause = 'grant' OR cause = 'gate_off' OR cause = 'fallback' OR cause = 'timeout'
    OR cause = 'cancelled' OR cause = 'cascade' OR cause = 'no_reviewer' OR cause = 'undelivered' OR cause = 'elsewhere' OR cause = 'gone' OR cause = 'run_ended' OR cause = 'stopped'),
  policy_version        INTEGER NOT NULL DEFAULT 0,
  policy_rule           TEXT NOT NULL DEFAULT '',
  policy_reason         TEXT NOT NULL DEFAULT '',
  reviewers_only        BOOLEAN NOT NULL DEFAULT FALSE,
  self_approval         TEXT NOT NULL DEFAULT 'allowed' CHECK (self_approval IN ('allowed', 'never')),
  approvers             TEXT NOT NULL DEFAULT '',
  approval_requested_at DATETIME,
  approval_timeout_at   DATETIME NOT NULL DEFAULT '9999-12-31 00:00:00+00:00',
  held_until            DATETIME,
  paused_left           INTEGER,
  open_note             TEXT,
  decided_by            TEXT REFERENCES users (id),
  vote_id               TEXT REFERENCES votes (id),
  grant_id              TEXT,
  cascaded_from         TEXT,

  is_completed          BOOLEAN NOT NULL DEFAULT FALSE,
  completed_at          DATETIME,
  reported_at           DATETIME,
  is_error              BOOLEAN NOT NULL DEFAULT FALSE,
  closed                TEXT NOT NULL DEFAULT '' CHECK (closed = '' OR closed = 'run' OR closed = 'owner'),
  matched_by            TEXT NOT NULL DEFAULT '' CHECK (matched_by = '' OR matched_by = 'tool_use_id' OR matched_by = 'input' OR matched_by = 'order' OR matched_by = 'only' OR matched_by = 'unmatched'),
  input_bytes           INTEGER,
  content_bytes         INTEGER,
  result_bytes          INTEGER,

  energy                INTEGER NOT NULL DEFAULT 0 CHECK (energy >= 0),
  energy_budget         INTEGER CHECK (energy_budget >= 0),
  model_used            TEXT NOT NULL DEFAULT '',
  removed               TEXT,
  tool_name             TEXT NOT NULL DEFAULT '',

  description           TEXT NOT NULL DEFAULT '',
  context               TEXT NOT NULL DEFAULT '',
  options               TEXT NOT NULL DEFAULT '',
  content               TEXT NOT NULL DEFAULT '',
  tool_input_json       TEXT NOT NULL DEFAULT '',
  answer                TEXT NOT NULL DEFAULT '',
  contradiction         TEXT NOT NULL DEFAULT '',
  tool_result           TEXT NOT NULL DEFAULT ''
, template TEXT NOT NULL DEFAULT '', checklist TEXT NOT NULL DEFAULT '', template_text TEXT NOT NULL DEFAULT '', protocol TEXT NOT NULL DEFAULT '' CHECK (protocol IN ('', 'function_calls')), client_data TEXT NOT NULL DEFAULT '', escalated_at DATETIME, preview TEXT NOT NULL DEFAULT '', escalation INTEGER NOT NULL DEFAULT 0, no_substitutes BOOLEAN NOT NULL DEFAULT FALSE, accepts_edits BOOLEAN NOT NULL DEFAULT FALSE, headline TEXT NOT NULL DEFAULT '', outside_run TEXT);
INSERT INTO responses VALUES(1,'01a1f8e6-2d4a-7705-99e6-943c3ebd09f1','01a1f8e6-2d4a-7721-b13c-36916b4170c5',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:11:00+00:00',NULL,'approved',NULL,NULL,NULL,NULL,NULL,'','29fc237e6907a1101b4a4144bfc88c053f7539a584967a22f91a21b6962af774',1,'medium',1,1,'approved','2026-03-02 12:12:00+00:00','Go on.','reviewer',2,'required_approval_tools','The policy lists this tool among those that need approval.',0,'allowed','','2026-03-02 12:11:00+00:00','2026-03-02 12:16:00+00:00',NULL,NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4b-75eb-8f50-0d0c4b73e928',NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'Bash','build it','','','','{"command":"make"}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(2,'01a1f8e6-2d4b-7e32-a9f7-3fec641e83f2','01a1f8e6-2d4a-7721-b13c-36916b4170c5',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:13:00+00:00',NULL,'rejected','job-7',NULL,NULL,NULL,NULL,'','154ca347ca93249a880c974f84c037dfd049d25499efb8993b71c2c5656a0133',1,'medium',1,1,'rejected','2026-03-02 12:14:00+00:00','Never.','reviewer',2,'required_approval_tools','The policy lists this tool among those that need approval.',0,'allowed','','2026-03-02 12:13:00+00:00','2026-03-02 12:18:00+00:00',NULL,NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4c-7703-8ab2-f5380428254e',NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'Bash','','','','','{"command":"rm -rf /"}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(3,'01a1f8e6-2d4c-7ed0-90dc-1d14562efb98','01a1f8e6-2d4a-7721-b13c-36916b4170c5',3,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:15:00+00:00',NULL,'edited',NULL,NULL,NULL,NULL,NULL,'','a5f451b5b9e053a92e28426808ec899fc7135ad696f99bc7a4bc04e70cbf857c',1,'high',1,1,'approved','2026-03-02 12:16:00+00:00',NULL,'reviewer',2,'payments','Money leaves the account.',0,'allowed','','2026-03-02 12:15:00+00:00','2026-03-03 12:15:00+00:00',NULL,NULL,NULL,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df','01a1f8e6-2d4d-7952-96e0-4564288c3156',NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'payment.send','','invoice 4711','','','{"amount":9007199254740993}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(4,'01a1f8e6-2d4e-7264-ba78-7c08bce29fe1','01a1f8e6-2d4e-7268-909b-fad5a3207582',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','question','2026-03-02 12:17:00+00:00',NULL,'answered',NULL,NULL,NULL,NULL,NULL,'','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf',1,'medium',1,1,'approved','2026-03-02 12:18:00+00:00',NULL,'reviewer',2,'explicit ask','Only a person can answer a question.',0,'allowed','','2026-03-02 12:17:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,NULL,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d4e-7cdb-92ef-d8f1d42a4ada',NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'question','Which region first?','','[{"name":"eu","title":"Europe"},{"name":"us","title":"America"}]','','{}','Europe first ‮','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(5,'01a1f8e6-2d4f-750d-a6cd-c512209a74a0','01a1f8e6-2d4e-7268-909b-fad5a3207582',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:19:00+00:00',NULL,'denied',NULL,NULL,NULL,NULL,NULL,'','82bc14ddd1a4f7a4942c416fea3be5380f2e8208936be85f9f51378619f83a22',1,'medium',1,1,'rejected','2026-03-02 12:19:00+00:00','Data is only ever archived.','policy',2,'never drop','Data is only ever archived.',0,'allowed','','2026-03-02 12:19:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'db.drop_all','','','','','{}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(6,'01a1f8e6-2d4f-7c3a-937b-410310df4dc7','01a1f8e6-2d4e-7268-909b-fad5a3207582',3,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:20:00+00:00',NULL,'let-through',NULL,NULL,NULL,NULL,NULL,'','a0fff715e9a4c6ce8c1a71b4f6bb39e89ce8d067e7a3c08d335737acd4674212',1,'low',1,0,NULL,NULL,NULL,'policy',2,'reading','The rule “reading” lets this tool through.',0,'allowed','',NULL,'9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'Read','','','','','{"path":"a"}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(7,'01a1f8e6-2d50-73af-bb31-ab1507a4ce31','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:21:00+00:00',NULL,'cancelled',NULL,NULL,NULL,NULL,NULL,'','bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab',1,'medium',1,1,'cancelled','2026-03-02 12:21:00+00:00','withdrawn by the agent','cancelled',2,'required_approval_tools','The policy lists this tool among those that need approval.',0,'allowed','','2026-03-02 12:21:00+00:00','2026-03-02 12:26:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'Bash','','','','','{}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(8,'01a1f8e6-2d51-7584-967f-4978de5a5551','01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 12:22:00+00:00',NULL,'expired',NULL,NULL,NULL,NULL,NULL,'','bf6305d2d60c02b854facba25daceff5444fb97b9eb28d896eff31183c9b48ab',1,'medium',1,1,'expired','2026-03-02 12:27:00+00:00','Approval request timed out (5 minutes)','timeout',2,'required_approval_tools','The policy lists this tool among those that need approval.',0,'allowed','','2026-03-02 12:22:00+00:00','2026-03-02 12:27:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'Bash','','','','','{}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(9,'01a1f8e6-2d52-75af-ab0d-4a6dcd8c5a93','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','tool_call','2026-03-02 14:23:00+00:00',NULL,'pending',NULL,NULL,NULL,NULL,NULL,'','5c187b57c628c6a560b00699609cce5c91e61493bc7f9c66e1f531a626db6e4d',1,'high',1,1,'pending',NULL,NULL,'',2,'payments','Money leaves the account.',0,'allowed','','2026-03-02 14:23:00+00:00','2026-03-03 14:23:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'payment.refund','','','','','{"amount":5}','','','','','','','','',NULL,'',0,0,0,'',NULL);
INSERT INTO responses VALUES(10,'01a1f8e6-2d53-71f5-bc92-ddbd98d649f5','01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8','01a1f8e6-2d41-7c94-aa08-0c97a00cb517','question','2026-03-02 14:24:00+00:00',NULL,'open question',NULL,NULL,NULL,NULL,NULL,'','9588c5a2bff57b10d49c3f6c49b5fd0191e10b54b404c4ce49abc497040fb7cf',1,'medium',1,1,'pending',NULL,NULL,'',2,'explicit ask','Only a person can answer a question.',0,'allowed','','2026-03-02 14:24:00+00:00','9999-12-31 00:00:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0,'','',NULL,NULL,NULL,1,NULL,'',NULL,'question','Shall we go on?','','','','{}','','','','','','','','',NULL,'',0,0,0,'',NULL);
CREATE TABLE ledger_keys (
  kind INTEGER NOT NULL, -- 1 owner, 2 actor, 3 conversation, 4 action
  key  TEXT NOT NULL,
  seq  INTEGER NOT NULL,
  PRIMARY KEY (kind, key, seq)
) WITHOUT ROWID;
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',3);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',4);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',15);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',17);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',5);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',10);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',11);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',16);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',18);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',19);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',20);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',21);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',22);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',23);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',24);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',25);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',26);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',27);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',28);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',29);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',30);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',31);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',32);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',33);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',34);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',35);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',36);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',37);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',6);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',12);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',13);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',14);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0',7);
INSERT INTO ledger_keys VALUES(1,'01a1f8e6-2d3f-7d13-97a0-414d2aa2a8f0',8);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',3);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',4);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',9);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7239-8da4-2e2cbdd6c27f',17);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',16);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',20);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',22);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3e-7c08-beef-94185e5b9fb8',27);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d3f-74db-8cfc-a699eeacc7df',24);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',18);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',19);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',21);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',23);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',25);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',26);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',28);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',29);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',30);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',31);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',32);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',33);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',35);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',36);
INSERT INTO ledger_keys VALUES(2,'01a1f8e6-2d41-7c94-aa08-0c97a00cb517',37);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',18);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',19);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',20);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',21);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',22);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',23);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4a-7721-b13c-36916b4170c5',24);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4e-7268-909b-fad5a3207582',25);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4e-7268-909b-fad5a3207582',26);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4e-7268-909b-fad5a3207582',27);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4e-7268-909b-fad5a3207582',28);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d4e-7268-909b-fad5a3207582',29);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',30);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',31);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',32);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',33);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d50-73d7-8cdb-c36cbcfcfee4',34);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',35);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',36);
INSERT INTO ledger_keys VALUES(3,'01a1f8e6-2d52-76d2-b370-17ec4d96e7c3',37);
INSERT INTO ledger_keys VALUES(4,'agent.registered',10);
INSERT INTO ledger_keys VALUES(4,'approval.approved',20);
INSERT INTO ledger_keys VALUES(4,'approval.approved',24);
INSERT INTO ledger_keys VALUES(4,'approval.approved',27);
INSERT INTO ledger_keys VALUES(4,'approval.cancelled',32);
INSERT INTO ledger_keys VALUES(4,'approval.expired',34);
INSERT INTO ledger_keys VALUES(4,'approval.let_through',29);
INSERT INTO ledger_keys VALUES(4,'approval.rejected',22);
INSERT INTO ledger_keys VALUES(4,'approval.rejected',28);
INSERT INTO ledger_keys VALUES(4,'approval.requested',19);
INSERT INTO ledger_keys VALUES(4,'approval.requested',21);
INSERT INTO ledger_keys VALUES(4,'approval.requested',23);
INSERT INTO ledger_keys VALUES(4,'approval.requested',26);
INSERT INTO ledger_keys VALUES(4,'approval.requested',31);
INSERT INTO ledger_keys VALUES(4,'approval.requested',33);
INSERT INTO ledger_keys VALUES(4,'approval.requested',36);
INSERT INTO ledger_keys VALUES(4,'approval.requested',37);
INSERT INTO ledger_keys VALUES(4,'conversation.opened',18);
INSERT INTO ledger_keys VALUES(4,'conversation.opened',25);
INSERT INTO ledger_keys VALUES(4,'conversation.opened',30);
INSERT INTO ledger_keys VALUES(4,'conversation.opened',35);
INSERT INTO ledger_keys VALUES(4,'policy.changed',1);
INSERT INTO ledger_keys VALUES(4,'policy.changed',9);
INSERT INTO ledger_keys VALUES(4,'session.opened',16);
INSERT INTO ledger_keys VALUES(4,'session.opened',17);
INSERT INTO ledger_keys VALUES(4,'setup_link.made',2);
INSERT INTO ledger_keys VALUES(4,'setup_link.used',3);
INSERT INTO ledger_keys VALUES(4,'token.added',11);
INSERT INTO ledger_keys VALUES(4,'token.added',12);
INSERT INTO ledger_keys VALUES(4,'token.added',14);
INSERT INTO ledger_keys VALUES(4,'token.added',15);
INSERT INTO ledger_keys VALUES(4,'token.revoked',13);
INSERT INTO ledger_keys VALUES(4,'user.added',4);
INSERT INTO ledger_keys VALUES(4,'user.added',5);
INSERT INTO ledger_keys VALUES(4,'user.added',6);
INSERT INTO ledger_keys VALUES(4,'user.added',7);
INSERT INTO ledger_keys VALUES(4,'user.disabled',8);
CREATE TABLE policy_drafts (
  user_id       TEXT PRIMARY KEY REFERENCES users (id),
  base          INTEGER NOT NULL REFERENCES policies (version), -- what it began with
  revision      INTEGER NOT NULL, -- counts the times that it was kept
  document      TEXT NOT NULL,
  previous      TEXT NOT NULL, -- what it was before, to go back to; empty: nothing
  previous_base INTEGER NOT NULL,
  changed_at    DATETIME NOT NULL
) WITHOUT ROWID;
CREATE TABLE stops (
  id           TEXT PRIMARY KEY,
  agent_id     TEXT NOT NULL, -- empty: all agents
  note         TEXT NOT NULL,
  at           DATETIME NOT NULL,
  by_id        TEXT NOT NULL, -- empty: the command line
  by_name      TEXT NOT NULL,
  lifted_at    DATETIME,
  lifted_id    TEXT NOT NULL DEFAULT '',
  lifted_name  TEXT NOT NULL DEFAULT '',
  lifted_note  TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE groups (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  note       TEXT NOT NULL DEFAULT '',
  created_at DATETIME NOT NULL,
  removed_at DATETIME
) WITHOUT ROWID;
CREATE TABLE group_members (
  id        TEXT PRIMARY KEY,
  group_id  TEXT NOT NULL REFERENCES groups (id),
  user_id   TEXT NOT NULL REFERENCES users (id),
  joined_at DATETIME NOT NULL,
  left_at   DATETIME
) WITHOUT ROWID;
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
CREATE TABLE notification_settings (
  user_id                 TEXT PRIMARY KEY REFERENCES users (id),
  moments                 TEXT NOT NULL, -- by risk
  digest_at               TEXT NOT NULL,
  quiet_from              TEXT NOT NULL,
  quiet_to                TEXT NOT NULL,
  zone                    TEXT NOT NULL,
  critical_breaks_through BOOLEAN NOT NULL
) WITHOUT ROWID;
CREATE TABLE notification_hosts (
  host     TEXT PRIMARY KEY,
  added_at DATETIME NOT NULL,
  added_by TEXT NOT NULL, -- empty: the command line
  by_name  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notification_codes (
  id             TEXT PRIMARY KEY,
  user_id        TEXT NOT NULL,
  address_digest TEXT NOT NULL,
  at             DATETIME NOT NULL
) WITHOUT ROWID;
CREATE TABLE notices (
  response_id TEXT NOT NULL, -- empty: of the digest
  recipient   TEXT NOT NULL, -- a person or a group
  moment      TEXT NOT NULL CHECK (moment IN ('waiting', 'unseen', 'half', 'tenth', 'digest')),
  due_at      DATETIME NOT NULL,
  PRIMARY KEY (response_id, recipient, moment)
) WITHOUT ROWID;
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
CREATE TABLE notified (
  response_id TEXT NOT NULL,
  channel_id  TEXT NOT NULL REFERENCES channels (id),
  first_at    DATETIME NOT NULL,
  burst       BOOLEAN NOT NULL, -- only among others
  waiting     BOOLEAN NOT NULL DEFAULT TRUE, -- the request is pending
  sent_at     DATETIME, -- when the first message about it went out
  PRIMARY KEY (response_id, channel_id)
) WITHOUT ROWID;
CREATE TABLE seen (
  user_id     TEXT NOT NULL REFERENCES users (id),
  response_id TEXT NOT NULL REFERENCES responses (id),
  first_at    DATETIME NOT NULL,
  active_at   DATETIME NOT NULL,
  PRIMARY KEY (response_id, user_id)
) WITHOUT ROWID;
CREATE TABLE told_headlines (
  response_id TEXT PRIMARY KEY REFERENCES responses (id)
) WITHOUT ROWID;
CREATE TABLE webhooks (
  id               TEXT PRIMARY KEY,
  name             TEXT NOT NULL,
  label            TEXT NOT NULL, -- scheme and host
  owner_id         TEXT NOT NULL, -- empty: the command line
  types            TEXT NOT NULL, -- JSON; []: all
  inputs           BOOLEAN NOT NULL,
  cursor           INTEGER NOT NULL, -- what it gets up to there was accepted, was skipped, or is of a blocked stream
  created_at       DATETIME NOT NULL,
  paused_at        DATETIME,
  paused_why       TEXT NOT NULL DEFAULT '' CHECK (paused_why IN ('', 'by_person', 'failing', 'gone')),
  paused_by        TEXT NOT NULL DEFAULT '',
  paused_class     TEXT NOT NULL DEFAULT '', -- of the last attempt before the pause
  old_key_until    DATETIME,
  last_accepted_at DATETIME,
  removed_at       DATETIME,
  target_sealed    BLOB,
  position         INTEGER NOT NULL DEFAULT 0, -- counts what moved the cursor and the blocks beside the worker
  answers          INTEGER NOT NULL DEFAULT 0, -- how many there were
  CHECK ((paused_at IS NULL) = (paused_why = '')),
  CHECK (removed_at IS NULL OR target_sealed IS NULL)
) WITHOUT ROWID;
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
CREATE TABLE escalations (
  response_id TEXT NOT NULL REFERENCES responses (id),
  step        INTEGER NOT NULL,
  due_at      DATETIME NOT NULL,
  paused_at   DATETIME, -- since when a question stops the clock
  PRIMARY KEY (response_id, step)
) WITHOUT ROWID;
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
CREATE TABLE handovers (
  id            TEXT PRIMARY KEY,
  response_id   TEXT NOT NULL REFERENCES responses (id),
  from_user     TEXT NOT NULL REFERENCES users (id),
  to_user       TEXT NOT NULL REFERENCES users (id),
  note          TEXT NOT NULL,
  at            DATETIME NOT NULL,
  taken_back_at DATETIME
) WITHOUT ROWID;
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
CREATE TABLE given_answers (
  response_id TEXT PRIMARY KEY REFERENCES responses (id),
  taker       TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE desk_active (
  user_id   TEXT PRIMARY KEY REFERENCES users (id),
  active_at DATETIME NOT NULL
) WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',47);
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
CREATE INDEX votes_response ON votes (response_id);
CREATE INDEX reviewers_response ON reviewers (response_id);
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE INDEX invites_open ON invites (id) WHERE used_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;
CREATE INDEX reviewers_tool_use ON reviewers (user_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX conversations_all ON conversations (active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner ON conversations (owner_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_agent ON conversations (agent_id, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_status ON conversations (status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_owner_status ON conversations (owner_id, status, active_at, id) WHERE archived_at IS NULL;
CREATE INDEX conversations_archived ON conversations (active_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX conversations_owner_archived ON conversations (owner_id, active_at, id) WHERE archived_at IS NOT NULL;
CREATE UNIQUE INDEX messages_history ON messages (conversation_id, sequence);
CREATE INDEX agent_inbox_ready ON agent_inbox (ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX upstreams_due ON upstreams (next_poll_at) WHERE disabled_at IS NULL;
CREATE INDEX deliveries_due ON deliveries (upstream_id, next_at) WHERE done_at IS NULL;
CREATE INDEX deliveries_untold ON deliveries (upstream_id, created_at) WHERE done_at IS NULL;
CREATE UNIQUE INDEX notes_response ON notes (response_id, number);
CREATE INDEX grants_live ON grants (agent_id, tool_name, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX grants_owner ON grants (owner_id, created_at, id);
CREATE INDEX grants_all ON grants (created_at, id);
CREATE INDEX reviewers_settled ON reviewers (user_id, settled_at);
CREATE INDEX votes_edited ON votes (input_digest, at) WHERE input_digest IS NOT NULL;
CREATE INDEX known_devices_user ON known_devices (user_id, used_at);
CREATE INDEX conversations_reserved ON conversations (agent_id) WHERE energy_reserved > 0;
CREATE INDEX withdrawals_response ON withdrawals (response_id, at);
CREATE INDEX outside_approvals_waiting ON outside_approvals (upstream_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_wanted ON outside_approvals (digest, run_id, first_at) WHERE waits = TRUE;
CREATE INDEX outside_approvals_linked ON outside_approvals (linked_id) WHERE linked_id <> '';
CREATE UNIQUE INDEX responses_history ON responses (conversation_id, sequence);
CREATE INDEX responses_agent_tool_use ON responses (agent_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX responses_pending_agent ON responses (agent_id) WHERE approval_status = 'pending';
CREATE INDEX responses_pending_conversation ON responses (conversation_id, approval_timeout_at, id) WHERE approval_status = 'pending';
CREATE INDEX responses_settled ON responses (approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_pending_spoken ON responses (conversation_id, sequence)
  WHERE approval_status = 'pending' AND kind IN ('proposal', 'budget');
CREATE INDEX responses_open ON responses (conversation_id, tool_name, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_open_input ON responses (conversation_id, digest, sequence)
  WHERE kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '';
CREATE INDEX responses_batch ON responses (conversation_id, batch_id, sequence) WHERE kind = 'tool_call' AND batch_id IS NOT NULL;
CREATE INDEX responses_unfinished ON responses (conversation_id, parent_tool_use_id, batch_id)
  WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending');
CREATE INDEX responses_agent ON responses (agent_id) WHERE asked = TRUE;
CREATE UNIQUE INDEX responses_agent_call ON responses (agent_id, call_id) WHERE call_id IS NOT NULL AND upstream_id IS NULL;
CREATE INDEX responses_pending_upstream ON responses (upstream_id) WHERE approval_status = 'pending' AND upstream_id IS NOT NULL;
CREATE INDEX responses_grant ON responses (grant_id, number) WHERE grant_id IS NOT NULL;
CREATE INDEX responses_held ON responses (held_until)
  WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL;
CREATE INDEX responses_tool ON responses (agent_id, tool_name) WHERE asked = TRUE;
CREATE INDEX responses_rejected ON responses (agent_id, digest, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_rejected_tool ON responses (agent_id, tool_name, number) WHERE approval_status = 'rejected';
CREATE INDEX responses_settled_owner ON responses (owner_id, approval_timestamp) WHERE approval_timestamp IS NOT NULL;
CREATE INDEX responses_let_through ON responses (created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_let_through_owner ON responses (owner_id, created_at) WHERE approval_status IS NULL AND cause <> '';
CREATE INDEX responses_approved_harm ON responses (agent_id, digest, approval_timestamp)
  WHERE approval_status = 'approved' AND risk IN ('high', 'critical');
CREATE UNIQUE INDEX responses_one_pending_budget ON responses (CASE tool_name WHEN 'allow_agent_energy' THEN agent_id ELSE conversation_id END)
  WHERE kind = 'budget' AND approval_status = 'pending';
CREATE UNIQUE INDEX responses_upstream_call ON responses (upstream_id, call_id, kind) WHERE upstream_id IS NOT NULL AND call_id IS NOT NULL AND approval_status = 'pending';
CREATE INDEX responses_cascaded ON responses (conversation_id, digest, sequence) WHERE cause = 'cascade' AND is_completed = FALSE;
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are kept'); END;
CREATE TRIGGER responses_approvers BEFORE UPDATE OF reviewers_only, self_approval, approvers ON responses
WHEN OLD.approval_status IS NOT NULL
  AND (NEW.reviewers_only IS NOT OLD.reviewers_only OR NEW.self_approval IS NOT OLD.self_approval OR NEW.approvers IS NOT OLD.approvers)
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
CREATE TRIGGER responses_removed BEFORE UPDATE OF removed ON responses
WHEN OLD.removed IS NOT NULL OR OLD.approval_status IS 'pending'
  OR coalesce(NEW.removed, '') NOT GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*'
BEGIN SELECT RAISE(ABORT, 'contents are removed once, and not from what is pending'); END;
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
CREATE TRIGGER responses_digested BEFORE UPDATE OF digest_version, description, energy_budget ON responses
WHEN NEW.digest_version IS NOT OLD.digest_version
  OR NEW.kind = 'question' AND NEW.description IS NOT OLD.description
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.description = NEW.removed)
  OR NEW.kind = 'proposal' AND NEW.energy_budget IS NOT OLD.energy_budget
BEGIN SELECT RAISE(ABORT, 'the content of a response never changes'); END;
CREATE UNIQUE INDEX stops_standing ON stops (agent_id) WHERE lifted_at IS NULL;
CREATE UNIQUE INDEX groups_in_use ON groups (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX group_members_in ON group_members (group_id, user_id) WHERE left_at IS NULL;
CREATE INDEX group_members_user ON group_members (user_id) WHERE left_at IS NULL;
CREATE INDEX responses_pending_groups ON responses (approvers, id) WHERE approval_status = 'pending' AND instr(approvers, '"group":') > 0;
CREATE INDEX votes_waiting ON votes (response_id) WHERE waits_for <> '';
CREATE TRIGGER responses_templates BEFORE UPDATE OF template, checklist, template_text ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.template IS NOT OLD.template OR NEW.checklist IS NOT OLD.checklist OR NEW.template_text IS NOT OLD.template_text)
BEGIN SELECT RAISE(ABORT, 'what templates said of a request never changes'); END;
CREATE TRIGGER votes_checked BEFORE UPDATE OF checked ON votes WHEN NEW.checked IS NOT OLD.checked
BEGIN SELECT RAISE(ABORT, 'what a voter ticked never changes'); END;
CREATE UNIQUE INDEX responses_function_calls ON responses (agent_id, tool_use_id) WHERE protocol <> '';
CREATE INDEX responses_pending_protocol ON responses (agent_id, kind, number) WHERE protocol <> '' AND approval_status = 'pending';
CREATE TRIGGER responses_client BEFORE UPDATE OF protocol, client_data ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND (NEW.protocol IS NOT OLD.protocol OR NEW.client_data IS NOT OLD.client_data
    AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.client_data = json_object('removed', NEW.removed)))
BEGIN SELECT RAISE(ABORT, 'what a client sent never changes'); END;
CREATE INDEX responses_pending_risk ON responses (
  CASE risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END, approval_timeout_at, id
) WHERE approval_status = 'pending';
CREATE INDEX channels_in_use ON channels (user_id || group_id) WHERE removed_at IS NULL;
CREATE INDEX channels_browsers ON channels (address_digest) WHERE removed_at IS NULL AND kind = 'web_push';
CREATE INDEX notification_codes_at ON notification_codes (at);
CREATE INDEX notices_due ON notices (recipient, due_at);
CREATE INDEX notice_sends_due ON notice_sends (due_at);
CREATE INDEX notice_sends_channel ON notice_sends (channel_id, due_at);
CREATE INDEX notice_sends_response ON notice_sends (response_id) WHERE response_id <> '';
CREATE INDEX notified_waiting ON notified (channel_id) WHERE waiting;
CREATE UNIQUE INDEX webhooks_in_use ON webhooks (name) WHERE removed_at IS NULL;
CREATE INDEX webhook_skipped_webhook ON webhook_skipped (webhook_id, id);
CREATE INDEX escalations_due ON escalations (due_at) WHERE paused_at IS NULL;
CREATE TRIGGER responses_substitutes BEFORE UPDATE OF no_substitutes ON responses
WHEN OLD.approval_status IS NOT NULL AND NEW.no_substitutes IS NOT OLD.no_substitutes
BEGIN SELECT RAISE(ABORT, 'who may approve a request never changes'); END;
CREATE TRIGGER responses_escalation BEFORE UPDATE OF escalation ON responses
WHEN OLD.approval_status IS NOT 'pending' OR NEW.escalation <= OLD.escalation
BEGIN SELECT RAISE(ABORT, 'a step of an escalation is taken once, while the request waits'); END;
CREATE UNIQUE INDEX substitutes_in_use ON substitutes (user_id, substitute_id) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX handovers_response ON handovers (response_id, from_user, to_user) WHERE taken_back_at IS NULL;
CREATE INDEX reviewers_for_others ON reviewers (response_id) WHERE for_others;
CREATE UNIQUE INDEX absences_open ON absences (user_id) WHERE ended_at IS NULL;
CREATE TRIGGER responses_move BEFORE UPDATE OF approval_status ON responses
WHEN NEW.approval_status IS NOT OLD.approval_status
  -- IS: a comparison with NULL is neither true nor false, and would let the move pass
  AND NOT (OLD.approval_status IS 'pending'
    AND (NEW.approval_status IS 'approved' OR NEW.approval_status IS 'rejected' OR NEW.approval_status IS 'expired'
      OR NEW.approval_status IS 'cancelled' OR NEW.approval_status IS 'resolved'))
  AND NOT (OLD.approval_status IS NULL AND (NEW.approval_status IS 'pending' OR NEW.approval_status IS 'rejected'))
BEGIN SELECT RAISE(ABORT, 'an approval moves from NULL to pending or rejected, and from pending once'); END
;
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IS NOT NULL AND OLD.approval_status <> 'pending'
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND (NEW.approval_feedback IS OLD.approval_feedback OR NEW.approval_feedback IS NEW.removed)
    AND NEW.approval_status IS OLD.approval_status AND NEW.approval_timestamp IS OLD.approval_timestamp AND NEW.cause IS OLD.cause
    AND NEW.decided_by IS OLD.decided_by AND NEW.vote_id IS OLD.vote_id)
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
CREATE INDEX responses_pending_digest ON responses (agent_id, digest) WHERE approval_status = 'pending' AND tool_use_id IS NOT NULL;
CREATE INDEX reviewers_number ON reviewers (user_id, number);
CREATE INDEX responses_tool_use ON responses (conversation_id, tool_use_id, sequence) WHERE tool_use_id IS NOT NULL;
CREATE TRIGGER responses_accepts_edits BEFORE UPDATE OF accepts_edits ON responses
WHEN (OLD.approval_status IS NOT NULL OR OLD.cause <> '') AND NEW.accepts_edits IS NOT OLD.accepts_edits
BEGIN SELECT RAISE(ABORT, 'whether a client takes edits never changes'); END;
CREATE TRIGGER responses_headline BEFORE UPDATE OF headline ON responses
WHEN NEW.headline IS NOT OLD.headline AND (OLD.approval_status IS NOT NULL OR OLD.cause <> '')
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND NEW.headline = NEW.removed)
BEGIN SELECT RAISE(ABORT, 'the headline of a request never changes'); END;
COMMIT;
