package db

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm/schema"
)

// Names is how GORM names tables and columns, here and on the connection.
var Names = schema.NamingStrategy{IdentifierMaxLength: 64}

// Row is a table's row as its model defines it. GORM's schema of the struct is the only list of its columns: SELECT,
// scan and INSERT follow from it, in its order.
type Row struct {
	table    string
	fields   []*schema.Field
	nullable func() reflect.Type // a struct with a pointer for each column; made when it is first wanted
}

// definitions are the models that GORM has read, each once: a model's relations are
// read with it.
var definitions sync.Map

// RowOf reads the definition of a model. It panics where the model is none: models
// are part of the program.
func RowOf(model any) *Row {
	s, err := schema.Parse(model, &definitions, Names)
	if err != nil {
		panic(fmt.Sprintf("%T is no model: %v", model, err))
	}
	fields := make([]*schema.Field, len(s.DBNames))
	for i, name := range s.DBNames {
		fields[i] = s.FieldsByDBName[name]
	}
	return newRow(s.Table, fields)
}

func newRow(table string, fields []*schema.Field) *Row {
	return &Row{
		table: table, fields: fields, nullable: sync.OnceValue(func() reflect.Type { return withPointers(fields) }),
	}
}

// Columns are all of them, of a table that is called so in the statement (empty: by
// its name). instead has an expression for some.
func (r *Row) Columns(alias string, instead map[string]string) string {
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

// Place is the number of a column among those selected, from 1.
func (r *Row) Place(column string) int {
	return 1 + slices.IndexFunc(r.fields, func(f *schema.Field) bool { return f.DBName == column })
}

// Without leaves out a column.
func (r *Row) Without(column string) *Row {
	return newRow(r.table,
		slices.DeleteFunc(slices.Clone(r.fields), func(f *schema.Field) bool { return f.DBName == column }))
}

// Only is the part of a row that a statement needs: these columns, in the row's order.
// It panics where there is none of that name.
func (r *Row) Only(columns ...string) *Row {
	fields := slices.DeleteFunc(slices.Clone(r.fields),
		func(f *schema.Field) bool { return !slices.Contains(columns, f.DBName) })
	if len(fields) != len(columns) {
		panic(fmt.Sprintf("%s has not all of %v", r.table, columns))
	}
	return newRow(r.table, fields)
}

// ErrEnough ends EachRow early.
var ErrEnough = errors.New("enough was read")

// EachRow runs a query and hands each row on.
func EachRow(ctx context.Context, pool Querier, query string, args []any, each func(Scanner) error) error {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}
