package db

import (
	"reflect"
	"slices"
	"strings"
)

// Insertion is the INSERT of a row that one or more structs describe. Columns that the
// database fills are left out. Rare columns, those seldom set when a row is stored, are
// left out too, which saves half of the arguments; a row that sets one of them takes the
// full statement. So a column that is called rare by mistake costs time, but no data.
// Its default must be the field's zero, which a test checks.
type Insertion struct {
	table   string
	number  bool // the database numbers its rows, in a column of that name
	columns []insertedColumn
	rare    []insertedColumn
}

type insertedColumn struct {
	name  string
	part  int // which of the structs
	index []int
}

// InsertionOf makes the insertion of rows that the parts, all of one table, describe
// together. rare names the rare columns.
func InsertionOf(rare []string, parts ...*Row) *Insertion {
	i := &Insertion{table: parts[0].table}
	for n, part := range parts {
		for _, f := range part.fields {
			c := insertedColumn{name: f.DBName, part: n, index: f.StructField.Index}
			switch {
			case !f.Creatable && f.DBName == "number":
				i.number = true
			case !f.Creatable:
			case slices.Contains(rare, f.DBName):
				i.rare = append(i.rare, c)
			default:
				i.columns = append(i.columns, c)
			}
		}
	}
	return i
}

// Table is the table's name.
func (i *Insertion) Table() string { return i.table }

// RareColumns are the columns that Short leaves out.
func (i *Insertion) RareColumns() []string {
	names := make([]string, len(i.rare))
	for n, c := range i.rare {
		names[n] = c.name
	}
	return names
}

// Short is the statement without the rare columns.
func (i *Insertion) Short() string { return i.statement(i.columns) }

// Full is the statement with all columns.
func (i *Insertion) Full() string { return i.statement(slices.Concat(i.columns, i.rare)) }

func (i *Insertion) statement(columns []insertedColumn) string {
	names := make([]string, len(columns))
	for n, c := range columns {
		names[n] = c.name
	}
	text := `INSERT INTO ` + i.table + ` (` + strings.Join(names, ", ") + `) VALUES (?` +
		strings.Repeat(", ?", len(names)-1) + `)`
	if i.number {
		text += tellNumber
	}
	return text
}

// Args appends the arguments to args, and says whether they are those of Short. models
// are pointers to the structs, in the order of the parts.
func (i *Insertion) Args(args []any, models ...any) (_ []any, short bool) {
	parts := make([]reflect.Value, len(models))
	for n, model := range models {
		parts[n] = reflect.ValueOf(model).Elem()
	}
	short = true
	for _, c := range i.rare {
		short = short && parts[c.part].FieldByIndex(c.index).IsZero()
	}
	for _, c := range i.columns {
		args = append(args, value(parts[c.part].FieldByIndex(c.index)))
	}
	if short {
		return args, true
	}
	for _, c := range i.rare {
		args = append(args, value(parts[c.part].FieldByIndex(c.index)))
	}
	return args, false
}

// Insert stores a row by the shorter of its two statements, if it can, and tells its
// number, if its table has one.
func (c *conn) Insert(i *Insertion, full, short *Stmt, models ...any) (number int64, err error) {
	args, isShort := i.Args(c.w.args[:0], models...)
	defer func() {
		clear(args) // it would hold contents of the row
		c.w.args = args
	}()
	stmt := full
	if isShort {
		stmt = short
	}
	res, err := c.exec(stmt, args)
	if err != nil || !i.number {
		return 0, err
	}
	return res.LastInsertId()
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
