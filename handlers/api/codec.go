package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// huma keeps these for the whole process.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewError = newError
	huma.DefaultArrayNullable = false
}

// format reads and writes bodies. Reading is strict: exact member names, no
// unknown and no duplicate members, valid UTF-8, and raw values as sent. That
// is all the checking a body gets before its use case, which says what is
// wanted of each field; huma's own pass over a second, untyped copy is off.
var format = huma.Format{Marshal: writeBody, Unmarshal: readBody}

var (
	readOptions = json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.MatchCaseInsensitiveNames(false),
		jsontext.AllowDuplicateNames(false),
		jsontext.AllowInvalidUTF8(false),
		json.WithUnmarshalers(json.UnmarshalFromFunc(readWholeNumber)),
	)
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// maxPooled is the largest buffer that is kept for the next answer.
const maxPooled = 64 << 10

func writeBody(w io.Writer, v any) error {
	buf, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	if err := json.MarshalWrite(buf, v, wire.WriteOptions); err != nil {
		return err
	}
	buf.WriteByte('\n')
	_, _ = w.Write(buf.Bytes()) // a caller that has gone needs no answer
	if buf.Cap() <= maxPooled {
		buffers.Put(buf)
	}
	return nil
}

func readBody(data []byte, v any) error {
	if err := json.Unmarshal(data, v, readOptions); err != nil {
		field, message := bodyProblem(err)
		return errors.New(field + fieldSeparator + message)
	}
	return nil
}

// readWholeNumber reads what is one and refuses all else.
func readWholeNumber(d *jsontext.Decoder, n *wire.WholeNumber) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	whole, err := models.WholeNumber("", raw)
	*n = wire.WholeNumber(whole)
	return err
}

// fieldSeparator parts field and message in an error of readBody: huma hands on
// nothing but the text.
const fieldSeparator = "\x1f"

// bodyProblem says which field is wrong and what was wanted, and nothing of
// what was sent.
func bodyProblem(err error) (field, message string) {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return fieldOf(syntactic.JSONPointer), "must not stand twice in one object"
	case errors.As(err, &syntactic) && noValue(syntactic):
		return fieldOf(syntactic.JSONPointer), "must be a JSON value"
	case errors.As(err, &syntactic):
		return "body", "must be one JSON value in UTF-8; it is not from byte " + strconv.FormatInt(syntactic.ByteOffset, 10) + " on"
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return fieldOf(semantic.JSONPointer), "is not a member that is known here; names are matched exactly"
	case errors.As(err, &semantic):
		return fieldOf(semantic.JSONPointer), "must be " + typeName(semantic.GoType)
	}
	return "body", "must be a JSON object"
}

// noValue reports whether a member holds what is no value in JSON, such as NaN.
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
		if !plainName(token) {
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

func plainName(s string) bool {
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

func typeName(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[wire.WholeNumber]() {
		return "a whole number, at most " + strconv.Itoa(models.MaxBudget)
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

// newError puts what huma itself finds wrong with a request into our words:
// 413 for a body over the limit, 422 for all else that is wrong with a body or
// parameter, whatever status huma would have chosen. Values are dropped.
func newError(status int, _ string, errs ...error) huma.StatusError {
	switch status {
	case 0: // huma asks for an example, for the document
		return &handlers.Problem{}
	case http.StatusRequestEntityTooLarge:
		return handlers.ProblemOf(models.Errorf(models.CodeTooLarge, "A body may be at most %d bytes, one with a policy %d more.", models.MaxBody, policyBody-models.MaxBody))
	}
	e := &models.Error{Code: models.CodeInvalid, Text: "The request is not valid.", Fields: map[string]string{}}
	for _, err := range errs {
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			field, message := fieldProblem(detail)
			e.Fields[field] = message
		}
	}
	if len(e.Fields) == 0 {
		e.Fields["body"] = "must be a JSON object that arrives in full"
	}
	return handlers.ProblemOf(e)
}

func fieldProblem(d *huma.ErrorDetail) (field, message string) {
	if field, message, ok := strings.Cut(d.Message, fieldSeparator); ok {
		return field, message
	}
	if d.Location == "body" {
		return "body", "must be sent with Content-Type: application/json"
	}
	_, name, _ := strings.Cut(d.Location, ".")
	if !plainName(name) {
		name = "query"
	}
	return name, d.Message
}
