package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Targets are where a selected row is scanned into. model is a pointer.
func (r *Row) Targets(model any) []any {
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

// Reader scans rows of one table, one after another, into the same places.
type Reader[T any] struct {
	v    T
	into []any
}

// ReaderOf is a reader of rows that are selected by r.Columns.
func ReaderOf[T any](r *Row) *Reader[T] {
	x := &Reader[T]{}
	x.into = r.Targets(&x.v)
	return x
}

// Read scans the row, which is selected by columns.
func (x *Reader[T]) Read(from Scanner) (T, error) {
	var none T
	x.v = none
	if err := from.Scan(x.into...); err != nil {
		return none, err
	}
	return x.v, nil
}

// Optional is a row that a LEFT JOIN may not find: each column is NULL then.
type Optional struct {
	row    *Row
	fields reflect.Value // of the row's nullable
}

// Optional is a place for such a row.
func (r *Row) Optional() *Optional {
	return &Optional{row: r, fields: reflect.New(r.nullable()).Elem()}
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

// Targets are where the row is scanned into.
func (o *Optional) Targets() []any {
	out := make([]any, o.fields.NumField())
	for i := range out {
		out[i] = o.fields.Field(i).Addr().Interface()
	}
	return out
}

// Take moves the scanned values into a model, a pointer.
func (o *Optional) Take(model any) {
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

// Scanner is a row, or the rows of a query one after another.
type Scanner interface{ Scan(dest ...any) error }

// Querier is the read pool, or a transaction on it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// RowQuerier is the same for a query of one row.
type RowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Exists reports whether a one-column query found a row.
func Exists(row *sql.Row) (bool, error) {
	var one int
	switch err := row.Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up: %w", err)
	}
	return true, nil
}

// NotFoundAs replaces GORM's "record not found" by want and leaves other errors.
func NotFoundAs(err, want error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return want
	}
	return err
}
