package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
)

// rowModels are the structs of each table; those of one table are its row together.
var rowModels = map[string][]any{
	"responses":        {&models.Response{}, &models.Report{}},
	"votes":            {&models.Vote{}},
	"notes":            {&models.Note{}},
	"conversations":    {&models.Conversation{}},
	"messages":         {&models.Message{}},
	"budget_steps":     {&models.BudgetStep{}},
	"grants":           {&models.Grant{}},
	"upstreams":        {&models.Upstream{}},
	"users":            {&models.User{}},
	"web_sessions":     {&models.WebSession{}},
	"agents":           {&models.Agent{}},
	"tokens":           {&models.Token{}},
	"invites":          {&models.Invite{}},
	"ledger":           {&models.Entry{}},
	"policies":         {&models.Policy{}},
	"policy_drafts":    {&models.PolicyDraft{}},
	"policy_proposals": {&models.PolicyProposal{}},

	"floods":                {&models.Flood{}},
	"dismissed_suggestions": {&models.DismissedSuggestion{}},
	"saved_views":           {&models.SavedView{}},
	"stops":                 {&models.Stop{}},
	"groups":                {&models.Group{}},
	"group_members":         {&models.GroupMember{}},
	"deliveries":            {&models.Delivery{}},
	"leases":                {&models.Lease{}},
	"nodes":                 {&models.Node{}},
	"presences":             {&models.Wait{}},
	"moves":                 {&models.Move{}},
	"signin_failures":       {&models.SignInFailure{}},
	"outside_approvals":     {&models.OutsideApproval{}},
	"withdrawals":           {&models.Withdrawal{}},
	"setup_links":           {&models.SetupLink{}},
	"known_devices":         {&models.KnownDevice{}},

	"channels":              {&models.Channel{}, &models.ChannelSecret{}},
	"notification_settings": {&models.NotificationSettingsRow{}},
	"notification_hosts":    {&models.NotificationHost{}},
	"notification_codes":    {&models.NotificationCode{}},
	"notices":               {&models.DueNotice{}},
	"notice_sends":          {&models.NoticeSend{}},
	"notified":              {&models.Notified{}},
	"seen":                  {&models.SeenRequest{}},
	"escalations":           {&models.Escalation{}},
	"substitutes":           {&models.Substitute{}},
	"absences":              {&models.Absence{}},
	"handovers":             {&models.HandOver{}},
	"told_headlines":        {&models.ToldHeadline{}},
	"given_answers":         {&models.GivenAnswer{}},

	"webhooks":        {&models.Webhook{}, &models.WebhookSecret{}},
	"webhook_blocks":  {&models.WebhookBlockRow{}},
	"webhook_skipped": {&models.WebhookSkipRow{}},
	"webhook_answers": {&models.WebhookAnswerRow{}},
}

func columnsOf(t *testing.T, s *Store, table string) map[string]dbtest.Column {
	t.Helper()
	out := map[string]dbtest.Column{}
	for _, c := range dbtest.Columns(t, s.db.Reads(), table) {
		out[c.Name] = c
	}
	if len(out) == 0 {
		t.Fatalf("table %s has no columns", table)
	}
	return out
}

// Each column of the migrated tables is a field of the table's model, once, and each
// field that is stored a column: what the one knows and the other does not is told.
func TestEachColumnIsAField(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for table, structs := range rowModels {
		columns := columnsOf(t, s, table)
		fields := map[string]string{}
		for _, model := range structs {
			parsed, err := schema.Parse(model, &sync.Map{}, db.Names)
			if err != nil {
				t.Fatalf("%T: %v", model, err)
			}
			if parsed.Table != table {
				t.Errorf("%T is a row of %s, not of %s", model, parsed.Table, table)
			}
			for _, name := range parsed.DBNames {
				f := parsed.FieldsByDBName[name]
				c, ok := columns[name]
				switch {
				case !ok && f.Creatable:
					t.Errorf("%T: %s has no column %s.%s", model, f.Name, table, name)
				case !ok:
					continue // read beside the row
				case fields[name] != "" && !f.PrimaryKey:
					t.Errorf("%s.%s is %s and %T.%s", table, name, fields[name], model, f.Name)
				case !c.NotNull && !c.Key && !mayBeNil(f):
					t.Errorf("%s.%s may be NULL, which %T.%s cannot hold", table, name, model, f.Name)
				}
				if f.DefaultValue != "" || f.Serializer != nil && !f.PrimaryKey || f.EmbeddedSchema != nil {
					t.Errorf("%T.%s has a default, a serializer or is embedded: its zero would not be stored as it is", model, f.Name)
				}
				fields[name] = fmt.Sprintf("%T.%s", model, f.Name)
			}
		}
		for name := range columns {
			if fields[name] == "" {
				t.Errorf("%s.%s is a field of none of %s", table, name, typesOf(structs))
			}
		}
	}
	tables := dbtest.Tables(t, s.db.Reads())
	for _, table := range tables {
		if _, ok := rowModels[table]; !ok && plainTables[table] == "" {
			t.Errorf("table %s has no model: add it to rowModels, or to plainTables and say why", table)
		}
	}
}

// plainTables have no model, and why.
var plainTables = map[string]string{
	"agent_allowances": "sums of energy by minute",
	"agent_energy":     "sums of energy by minute",
	"agent_inbox":      "the queue of the built-in agent: each statement takes what it needs",
	"agent_windows":    "sums of energy by minute",
	"goose_db_version": "of the library that migrates",
	"deciders":         "a set: who may decide what waits",
	"desk_active":      "one time for each person: two statements write and read it",
	"early_results":    "kept until the call is reported, by two statements",
	"ledger_head":      "the last entry's number and hash",
	"ledger_keys":      "a set: where entries are found",
	"ledger_readers":   "a set: who may read which entry",
	"insights":         "sums by day: models/insights reads and writes them",
	"key_checks":       "two rows: which key files the installation has",
	"opened_parts":     "a set: who has opened which part",
	"position_key":     "one value",
	"rates":            "one number for each client: three statements",
	"reviewers":        "a set: who was asked",
	"row_checks":       "one row: the last check of all rows",
	"run_events":       "a set: which events were reported",
	"schema_use":       "one row: which programs may write",
	"signin_lots":      "two times for each address: the statements of people",
	"turns":            "JSON, as it was reported",
}

// What an INSERT leaves out has its zero as the default.
func TestWhatIsSeldomSetHasItsZeroByDefault(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, i := range []*db.Insertion{askInsertion, reportInsertion, insertVote} {
		if len(i.RareColumns()) == 0 {
			t.Errorf("nothing is seldom in %s", i.Table())
		}
		for _, column := range i.RareColumns() {
			c := columnsOf(t, s, i.Table())[column]
			value, _, _ := strings.Cut(strings.ToLower(c.Default), "::")
			if value == "" && c.NotNull || !slices.Contains([]string{"", "''", "0", "false"}, value) {
				t.Errorf("%s.%s has another default than its zero: %q", i.Table(), column, c.Default)
			}
		}
	}
}

// A row that sets what is seldom set is stored whole.
func TestARowIsStoredWholeWhereItHasTo(t *testing.T) {
	t.Parallel()
	usual, rare := &models.Vote{ID: "v", Verdict: models.VerdictApprove}, &models.Vote{ID: "v", WaitsFor: "[]"}
	short, lean := insertVote.Args(nil, usual)
	long, whole := insertVote.Args(nil, rare)
	if !lean || whole || len(long) != len(short)+len(insertVote.RareColumns()) || !slices.Contains(long, any("[]")) {
		t.Errorf("%d arguments (%t) and %d (%t)", len(short), lean, len(long), whole)
	}
}

func mayBeNil(f *schema.Field) bool {
	kind := f.FieldType.Kind()
	return kind == reflect.Pointer || kind == reflect.Slice || strings.HasPrefix(f.FieldType.String(), "sql.Null")
}

func typesOf(structs []any) string {
	names := make([]string, len(structs))
	for i, model := range structs {
		names[i] = fmt.Sprintf("%T", model)
	}
	return strings.Join(names, ", ")
}
