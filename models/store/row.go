package store

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm/schema"

	"countersign/models"
)

// naming is how GORM names tables and columns, here and on the connection.
var naming = schema.NamingStrategy{IdentifierMaxLength: 64}

// row is a table's row as its model defines it. GORM's schema of the struct is the
// only list of its columns: what is selected, scanned and inserted follows from it,
// in its order.
type row struct {
	table    string
	fields   []*schema.Field
	nullable reflect.Type // a struct with a pointer for each column
}

// rowOf reads the definition of a model. It panics where the model is none: models
// are part of the program.
func rowOf(model any) *row {
	s, err := schema.Parse(model, &sync.Map{}, naming)
	if err != nil {
		panic(fmt.Sprintf("%T is no model: %v", model, err))
	}
	r := &row{table: s.Table}
	for _, name := range s.DBNames {
		r.fields = append(r.fields, s.FieldsByDBName[name])
	}
	r.nullable = withPointers(r.fields)
	return r
}

// The rows that are read or written by prepared statements.
var (
	responseRow = rowOf(&models.Response{})
	reportRow   = rowOf(&models.Report{}).without("id") // the rest of the same row
	voteRow     = rowOf(&models.Vote{})
	noteRow     = rowOf(&models.Note{})

	conversationRow = rowOf(&models.Conversation{})
	messageRow      = rowOf(&models.Message{})
	stepRow         = rowOf(&models.BudgetStep{})
	entryRow        = rowOf(&models.Entry{})
)

// columns are all of them, of a table that is called so in the statement (empty: by
// its name). instead has an expression for some.
func (r *row) columns(alias string, instead map[string]string) string {
	if alias == "" {
		alias = r.table
	}
	out := make([]string, len(r.fields))
	for i, f := range r.fields {
		out[i] = alias + "." + f.DBName
		if expression, ok := instead[f.DBName]; ok {
			out[i] = expression
		}
	}
	return strings.Join(out, ", ")
}

// place is the number of a column among those selected, from 1.
func (r *row) place(column string) int {
	return 1 + slices.IndexFunc(r.fields, func(f *schema.Field) bool { return f.DBName == column })
}

// without leaves out a column.
func (r *row) without(column string) *row {
	fields := slices.DeleteFunc(slices.Clone(r.fields), func(f *schema.Field) bool { return f.DBName == column })
	return &row{table: r.table, fields: fields, nullable: withPointers(fields)}
}

// insertion stores a row that one struct or more describe; what the database gives is
// left out. Columns that are seldom set when a row is stored can be left out too, which
// saves half of the arguments: a row that sets one of them all the same takes the whole
// statement. So a column that is seldom by mistake costs time, and is not lost. Its
// default must be the field's zero, which a test sees to.
type insertion struct {
	table   string
	columns []inserted
	seldom  []inserted
}

type inserted struct {
	name  string
	part  int // which of the structs
	index []int
}

func insertionOf(seldom []string, parts ...*row) *insertion {
	i := &insertion{table: parts[0].table}
	for n, part := range parts {
		for _, f := range part.fields {
			c := inserted{name: f.DBName, part: n, index: f.StructField.Index}
			switch {
			case !f.Creatable:
			case slices.Contains(seldom, f.DBName):
				i.seldom = append(i.seldom, c)
			default:
				i.columns = append(i.columns, c)
			}
		}
	}
	return i
}

// lean and whole are the two statements, without and with what is seldom set.
func (i *insertion) lean() string  { return i.statement(i.columns) }
func (i *insertion) whole() string { return i.statement(slices.Concat(i.columns, i.seldom)) }

func (i *insertion) statement(columns []inserted) string {
	names := make([]string, len(columns))
	for n, c := range columns {
		names[n] = c.name
	}
	return `INSERT INTO ` + i.table + ` (` + strings.Join(names, ", ") + `) VALUES (?` + strings.Repeat(", ?", len(names)-1) + `)`
}

// args are the arguments, and whether they are those of lean. models are pointers to
// the structs, in the order of the parts.
func (i *insertion) args(models ...any) (args []any, lean bool) {
	parts := make([]reflect.Value, len(models))
	for n, model := range models {
		parts[n] = reflect.ValueOf(model).Elem()
	}
	lean = true
	for _, c := range i.seldom {
		lean = lean && parts[c.part].FieldByIndex(c.index).IsZero()
	}
	args = make([]any, 0, len(i.columns)+len(i.seldom))
	for _, c := range i.columns {
		args = append(args, value(parts[c.part].FieldByIndex(c.index)))
	}
	if lean {
		return args, true
	}
	for _, c := range i.seldom {
		args = append(args, value(parts[c.part].FieldByIndex(c.index)))
	}
	return args, false
}

// The rows that prepared statements store.
var (
	insertEntry = insertionOf(nil, entryRow)
	insertVote  = insertionOf([]string{"withdrawn_at", "waits_for", "undo_until", "budget_set", "budget_delta"}, voteRow)
	// What was asked, and what was only reported: the one is not done yet, the other
	// needs no approval.
	insertAsked = insertionOf([]string{
		"call_id", "upstream_id", "approval_id", "batch_id", "held_until", "paused_left", "open_note", "decided_by", "vote_id", "cascaded_from",
		"is_completed", "reported_at", "is_error", "closed", "matched_by", "input_bytes", "answer", "removed",
	}, responseRow)
	insertReported = insertionOf([]string{
		"claimed_at", "job_id", "call_id", "upstream_id", "approval_id", "requires_approval", "approval_status", "approval_timestamp", "approval_feedback",
		"cause", "policy_version", "policy_rule", "policy_reason", "reviewers_only", "approvers", "approval_requested_at", "held_until", "paused_left", "open_note",
		"decided_by", "vote_id", "grant_id", "cascaded_from", "is_completed", "is_error", "closed", "matched_by", "energy", "energy_budget", "model_used",
		"description", "context", "options", "answer", "removed", "completed_at", "tool_result", "contradiction", "result_bytes",
	}, responseRow, reportRow)
)

// insert stores a row by the shorter of its two statements, if it can.
func (c *conn) insert(i *insertion, whole, lean *sql.Stmt, models ...any) error {
	args, short := i.args(models...)
	stmt := whole
	if short {
		stmt = lean
	}
	_, err := c.exec(stmt, args...)
	return err
}

// value is a field as the driver takes it, which else has to look at its type again.
func value(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // columns are of few kinds
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return value(v.Elem())
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Bool:
		return v.Bool()
	default: // a time, or bytes
		return v.Interface()
	}
}

// targets are where a selected row is scanned into. model is a pointer.
func (r *row) targets(model any) []any {
	v := reflect.ValueOf(model).Elem()
	out := make([]any, len(r.fields))
	for i, f := range r.fields {
		out[i] = target(v.FieldByIndex(f.StructField.Index))
	}
	return out
}

// target is where a field is scanned into. A string of a type of its own is taken as
// a string: database/sql has to convert it else, which takes longer than to read it.
func target(v reflect.Value) any {
	if v.Kind() == reflect.String {
		return v.Addr().Convert(reflect.TypeFor[*string]()).Interface()
	}
	return v.Addr().Interface()
}

// reader scans rows of one table, one after another, into the same places.
type reader[T any] struct {
	v    T
	into []any
}

func readerOf[T any](r *row) *reader[T] {
	x := &reader[T]{}
	x.into = r.targets(&x.v)
	return x
}

// read scans the row, which is selected by columns.
func (x *reader[T]) read(from scanner) (T, error) {
	var none T
	x.v = none
	if err := from.Scan(x.into...); err != nil {
		return none, err
	}
	return x.v, nil
}

// optional is a row that a LEFT JOIN may not find: each column is NULL then.
type optional struct {
	row    *row
	fields reflect.Value // of the row's nullable
}

func (r *row) optional() *optional {
	return &optional{row: r, fields: reflect.New(r.nullable).Elem()}
}

func withPointers(fields []*schema.Field) reflect.Type {
	out := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		out[i] = reflect.StructField{Name: f.Name, Type: f.StructField.Type}
		if f.StructField.Type.Kind() != reflect.Pointer {
			out[i].Type = reflect.PointerTo(f.StructField.Type)
		}
	}
	return reflect.StructOf(out)
}

func (o *optional) targets() []any {
	out := make([]any, o.fields.NumField())
	for i := range out {
		out[i] = o.fields.Field(i).Addr().Interface()
	}
	return out
}

// take moves what was scanned into a model, a pointer.
func (o *optional) take(model any) {
	v := reflect.ValueOf(model).Elem()
	for i, f := range o.row.fields {
		to, from := v.FieldByIndex(f.StructField.Index), o.fields.Field(i)
		switch {
		case from.IsNil():
		case to.Kind() == reflect.Pointer:
			to.Set(from)
		default:
			to.Set(from.Elem())
		}
	}
	o.fields.SetZero()
}
