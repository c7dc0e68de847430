package handlers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"countersign/models"
)

// StrictJSON reads a body: exact member names, no unknown and no duplicate members, valid
// UTF-8, and raw values as sent.
var StrictJSON = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

// BodyProblem says which field is wrong and which value was expected, and nothing of the body. typeName names a Go type
// in the answer.
func BodyProblem(err error, typeName func(reflect.Type) string) (field, message string) {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return fieldOf(syntactic.JSONPointer), "must not appear twice in one object"
	case errors.As(err, &syntactic) && noValue(syntactic):
		return fieldOf(syntactic.JSONPointer), "must be a JSON value"
	case errors.As(err, &syntactic):
		return "body", "must be one JSON value in UTF-8; it is not from byte " + strconv.FormatInt(syntactic.ByteOffset, 10) +
			" on"
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return fieldOf(semantic.JSONPointer), "is not a member that is known here; names are matched exactly"
	case errors.As(err, &semantic):
		return fieldOf(semantic.JSONPointer), "must be " + typeName(elem(semantic.GoType))
	}
	return "body", "must be a JSON object"
}

// noValue reports whether a member has a value that JSON lacks, such as NaN.
func noValue(err *jsontext.SyntacticError) bool {
	text := err.Err.Error()
	return err.JSONPointer != "" && (strings.HasSuffix(text, "at start of value") || strings.Contains(text, "in number"))
}

// fieldOf writes a JSON pointer as people do: options[0].name. It ends where a
// member's name is not a plain one.
func fieldOf(pointer jsontext.Pointer) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if !PlainName(token) {
			b.WriteString("(member)")
			break
		}
		b.WriteString(token)
		if b.Len() > 200 {
			break
		}
	}
	if b.Len() == 0 {
		return "body"
	}
	return b.String()
}

// PlainName reports whether a name can be told as it was sent.
func PlainName(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// TypeName is what a value of a Go type is called.
func TypeName(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time as in 2026-03-02T12:00:00Z"
	}
	switch t.Kind() { //nolint:exhaustive // the kinds that wire types have
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct:
		return "an object"
	}
	return "another kind of value"
}

// elem is the type that pointers lead to.
func elem(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// rawJSON has raw values go out exactly as they came in: they were checked on the way in.
var rawJSON = json.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)

// BodyTimeout is how long a body may take to arrive whose sender is known.
const BodyTimeout = 10 * time.Second

// ReadJSON reads a body of models.MaxBody bytes at most into v, strictly. An error says which member is wrong and which
// value was expected, and nothing of the body.
func ReadJSON(c echo.Context, v any) error {
	ReadWithin(c.Response())
	raw, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, models.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return models.Errorf(models.CodeTooLarge, "A body may be at most %d bytes.", models.MaxBody)
	}
	if err != nil {
		return models.Invalid("body", "must be a complete JSON object")
	}
	if err := json.Unmarshal(raw, v, StrictJSON); err != nil {
		field, message := BodyProblem(err, TypeName)
		return models.Invalid(field, "%s", message)
	}
	return nil
}

// WriteJSON answers with v. A caller that has gone needs no answer.
func WriteJSON(c echo.Context, status int, v any) error {
	raw, err := json.Marshal(v, rawJSON)
	if err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	return c.Blob(status, echo.MIMEApplicationJSON, raw)
}

// PathParam is a parameter of the path as it was meant. The router takes it from the path as
// sent where that is not the usual spelling, as in a%2Fb.
func PathParam(c echo.Context, name string) string {
	value := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return value
	}
	if meant, err := url.PathUnescape(value); err == nil {
		return meant
	}
	return value
}
