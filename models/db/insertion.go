package db

import (
	"database/sql"
	"reflect"
	"slices"
	"strings"
)

// Insertion stores a row that one struct or more describe; what the database gives is
// left out. Columns that are seldom set when a row is stored can be left out too, which
// saves half of the arguments: a row that sets one of them all the same takes the whole
// statement. So a column that is seldom by mistake costs time, and is not lost. Its
// default must be the field's zero, which a test sees to.
type Insertion struct {
	table   string
	columns []inserted
	seldom  []inserted
}

type inserted struct {
	name  string
	part  int // which of the structs
	index []int
}

// InsertionOf is the insertion of the rows that the parts describe together, all of one
// table. seldom names columns that are left out where they can be.
func InsertionOf(seldom []string, parts ...*Row) *Insertion {
	i := &Insertion{table: parts[0].table}
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

// Table is the table's name.
func (i *Insertion) Table() string { return i.table }

// Seldom are the columns that Lean leaves out.
func (i *Insertion) Seldom() []string {
	names := make([]string, len(i.seldom))
	for n, c := range i.seldom {
		names[n] = c.name
	}
	return names
}

// Lean is the statement without what is seldom set.
func (i *Insertion) Lean() string { return i.statement(i.columns) }

// Whole is the statement with all columns.
func (i *Insertion) Whole() string { return i.statement(slices.Concat(i.columns, i.seldom)) }

func (i *Insertion) statement(columns []inserted) string {
	names := make([]string, len(columns))
	for n, c := range columns {
		names[n] = c.name
	}
	return `INSERT INTO ` + i.table + ` (` + strings.Join(names, ", ") + `) VALUES (?` + strings.Repeat(", ?", len(names)-1) + `)`
}

// Args are the arguments, and whether they are those of lean. models are pointers to
// the structs, in the order of the parts.
func (i *Insertion) Args(models ...any) (args []any, lean bool) {
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

// Insert stores a row by the shorter of its two statements, if it can.
func (c *conn) Insert(i *Insertion, whole, lean *sql.Stmt, models ...any) error {
	args, short := i.Args(models...)
	stmt := whole
	if short {
		stmt = lean
	}
	_, err := c.Exec(stmt, args...)
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
