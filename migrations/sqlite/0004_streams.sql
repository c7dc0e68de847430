-- +goose Up

-- Who may read an entry of the ledger beside its owner and the admins: the agent
-- whose request it is about and whoever that was routed to. A stream goes on in
-- it by (reader, number); what its reader may see is judged at each reading.
CREATE TABLE ledger_readers (
  reader_id TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (reader_id, seq)
) WITHOUT ROWID;

INSERT INTO ledger_readers (reader_id, seq)
SELECT r.agent_id, l.seq FROM ledger l JOIN responses r ON r.id = l.response_id
UNION SELECT v.user_id, l.seq FROM ledger l JOIN reviewers v ON v.response_id = l.response_id;

-- A request's reviewers are stored before its first entry.
-- +goose StatementBegin
CREATE TRIGGER ledger_of_request AFTER INSERT ON ledger WHEN NEW.response_id <> ''
BEGIN
  INSERT OR IGNORE INTO ledger_readers (reader_id, seq) SELECT agent_id, NEW.seq FROM responses WHERE id = NEW.response_id;
  INSERT OR IGNORE INTO ledger_readers (reader_id, seq) SELECT user_id, NEW.seq FROM reviewers WHERE response_id = NEW.response_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_of_conversation AFTER INSERT ON ledger WHEN NEW.action = 'conversation.status'
BEGIN
  INSERT OR IGNORE INTO ledger_readers (reader_id, seq) SELECT agent_id, NEW.seq FROM conversations WHERE id = NEW.conversation_id;
END;
-- +goose StatementEnd
