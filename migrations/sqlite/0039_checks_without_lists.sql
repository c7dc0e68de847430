-- +goose Up
-- The same rules, said so that they cost less. For a list of more than two values SQLite
-- makes a table in memory each time that it looks: some ten of them for an ask and its
-- decision, which was a fifth of their time. Comparisons cost next to nothing.
--
-- A CHECK is text in the schema, and nothing in the file depends on how it says the same: it
-- is changed where it stands, as SQLite's "Making Other Kinds Of Table Schema Changes" does.
-- To copy the tables would take half a minute for each million requests.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (kind IN (''reply'', ''proposal'', ''tool_call'', ''question'', ''budget''))',
  'CHECK (kind = ''tool_call'' OR kind = ''question'' OR kind = ''proposal'' OR kind = ''reply'' OR kind = ''budget'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (risk IN (''low'', ''medium'', ''high'', ''critical''))',
  'CHECK (risk = ''low'' OR risk = ''medium'' OR risk = ''high'' OR risk = ''critical'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (approval_status IN (''pending'', ''approved'', ''rejected'', ''expired'', ''cancelled'', ''resolved''))',
  'CHECK (approval_status = ''pending'' OR approval_status = ''approved'' OR approval_status = ''rejected'' OR approval_status = ''expired'' OR approval_status = ''cancelled'' OR approval_status = ''resolved'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (cause IN ('''', ''reviewer'', ''policy'', ''grant'', ''gate_off'', ''fallback'', ''timeout'', ''cancelled'',
                          ''cascade'', ''no_reviewer'', ''undelivered'', ''elsewhere'', ''gone'', ''run_ended'', ''stopped''))',
  'CHECK (cause = '''' OR cause = ''reviewer'' OR cause = ''policy'' OR cause = ''grant'' OR cause = ''gate_off'' OR cause = ''fallback'' OR cause = ''timeout''
    OR cause = ''cancelled'' OR cause = ''cascade'' OR cause = ''no_reviewer'' OR cause = ''undelivered'' OR cause = ''elsewhere'' OR cause = ''gone'' OR cause = ''run_ended'' OR cause = ''stopped'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (closed IN ('''', ''run'', ''owner''))',
  'CHECK (closed = '''' OR closed = ''run'' OR closed = ''owner'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (matched_by IN ('''', ''tool_use_id'', ''input'', ''order'', ''only'', ''unmatched''))',
  'CHECK (matched_by = '''' OR matched_by = ''tool_use_id'' OR matched_by = ''input'' OR matched_by = ''order'' OR matched_by = ''only'' OR matched_by = ''unmatched'')') WHERE type = 'table' AND name = 'responses';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (verdict IN (''approve'', ''reject'', ''answer''))',
  'CHECK (verdict = ''approve'' OR verdict = ''reject'' OR verdict = ''answer'')') WHERE type = 'table' AND name = 'votes';
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (actor_kind IN (''user'', ''agent'', ''system'', ''operator''))',
  'CHECK (actor_kind = ''user'' OR actor_kind = ''agent'' OR actor_kind = ''system'' OR actor_kind = ''operator'')') WHERE type = 'table' AND name = 'ledger';
PRAGMA writable_schema = RESET;

DROP TRIGGER responses_move;
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
DROP TRIGGER responses_outcome;
-- +goose StatementBegin
CREATE TRIGGER responses_outcome BEFORE UPDATE OF approval_status, approval_timestamp, approval_feedback, cause, decided_by, vote_id ON responses
WHEN OLD.approval_status IS NOT NULL AND OLD.approval_status <> 'pending'
  AND NOT (OLD.removed IS NULL AND NEW.removed IS NOT NULL AND (NEW.approval_feedback IS OLD.approval_feedback OR NEW.approval_feedback IS NEW.removed)
    AND NEW.approval_status IS OLD.approval_status AND NEW.approval_timestamp IS OLD.approval_timestamp AND NEW.cause IS OLD.cause
    AND NEW.decided_by IS OLD.decided_by AND NEW.vote_id IS OLD.vote_id)
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
-- +goose StatementEnd
