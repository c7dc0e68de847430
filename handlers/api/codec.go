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

// format reads and writes bodies. Reading is strict: exact member names, no unknown and no duplicate members, valid
// UTF-8, and raw values as sent. A body gets no other check before its use case, which checks each field; huma's own
// check of a second, untyped copy is off.
var format = huma.Format{Marshal: writeBody, Unmarshal: readBody}

var (
	readOptions = json.JoinOptions(
		handlers.StrictJSON,
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

// readWholeNumber refuses all but whole numbers.
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

// bodyProblem names the wrong field and says which value it wants.
func bodyProblem(err error) (field, message string) { return handlers.BodyProblem(err, typeName) }

// typeName is what a value of a wire type is called.
func typeName(t reflect.Type) string {
	if t == reflect.TypeFor[wire.WholeNumber]() {
		return "a whole number, at most " + strconv.Itoa(models.MaxBudget)
	}
	return handlers.TypeName(t)
}

// newError puts what huma itself finds wrong with a request into our words:
// 413 for a body over the limit, 422 for all else that is wrong with a body or
// parameter, whatever status huma would have chosen. Values are dropped.
func newError(status int, _ string, errs ...error) huma.StatusError {
	switch status {
	case 0: // huma asks for an example, for the document
		return &handlers.Problem{}
	case http.StatusRequestEntityTooLarge:
		return handlers.ProblemOf(models.Errorf(models.CodeTooLarge, "A body may be at most %d bytes.", models.MaxBody))
	}
	e := &models.Error{Code: models.CodeInvalid, Text: "The request is not valid.", Fields: map[string]string{}}
	for _, err := range errs {
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			field, message := fieldProblem(detail)
			e.Fields[field] = message
		}
	}
	if len(e.Fields) == 0 {
		e.Fields["body"] = "must be a complete JSON object"
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
	if !handlers.PlainName(name) {
		name = "query"
	}
	return name, d.Message
}
