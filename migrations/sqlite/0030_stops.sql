-- +goose Up
-- Agents that a person stopped: what they ask is rejected until the stop is lifted.
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
CREATE UNIQUE INDEX stops_standing ON stops (agent_id) WHERE lifted_at IS NULL;
