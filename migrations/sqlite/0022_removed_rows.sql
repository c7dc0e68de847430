-- +goose Up
-- The mark of what was removed, as in responses and messages, for the other rows of
-- which contents are removed: a text that only looks like a mark is contents.
ALTER TABLE conversations ADD COLUMN removed TEXT;
ALTER TABLE turns ADD COLUMN removed TEXT;
ALTER TABLE budget_steps ADD COLUMN removed TEXT;
ALTER TABLE early_results ADD COLUMN removed TEXT;
ALTER TABLE outside_approvals ADD COLUMN removed TEXT;
ALTER TABLE grants ADD COLUMN removed TEXT;

-- What was removed before: a text in the form of the mark that an entry names.
UPDATE conversations SET removed = title
WHERE title GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND conversations.id IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'conversations');
UPDATE budget_steps SET removed = reason
WHERE reason GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND budget_steps.conversation_id || ' ' || budget_steps.sequence IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'budget_steps');
UPDATE early_results SET removed = result
WHERE result GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND early_results.conversation_id || ' ' || early_results.tool_use_id IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'early_results');
UPDATE turns SET removed = json_extract(said, '$.content')
WHERE json_extract(said, '$.content') GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND turns.conversation_id || ' ' || turns.sequence IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'turns');
UPDATE grants SET removed = json_extract(fixed, '$.removed')
WHERE json_extract(fixed, '$.removed') GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND grants.id IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'grants');
UPDATE outside_approvals SET removed = json_extract(raw, '$.removed')
WHERE json_valid(raw) AND json_extract(raw, '$.removed') GLOB 'removed on [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], by ?*' AND outside_approvals.upstream_id || ' ' || outside_approvals.call_id IN
  (SELECT r.value ->> 'id' FROM ledger l, json_each(l.data, '$.rows') r WHERE l.action = 'contents.removed' AND r.value ->> 'table' = 'outside_approvals');
