package site

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// Of an export: how many rows are written before they are sent, and how long
// one such write may take before its reader is given up.
const (
	exportedAtOnce = 200
	slowExport     = time.Minute
)

// Format is how a file is written: its type, and what begins it and gives what
// writes a row.
type Format[T any] struct {
	ContentType string
	Begin       func(io.Writer) (func(T) error, error)
}

// Formats are the ways in which rows can be written, by what an address calls them.
type Formats[T any] map[string]Format[T]

// Named is the format that an address asks for.
func (f Formats[T]) Named(c echo.Context) (string, error) {
	name := c.QueryParam("format")
	if _, ok := f[name]; !ok {
		return "", models.Invalid("format", "must be csv or jsonl")
	}
	return name, nil
}

// Export streams a file of rows that each gives: it calls begin first, once what it
// was asked for is found good, and then put. What goes wrong before anything was sent
// is said as always; later, the connection is cut, so that half a file is not taken
// for one.
func Export[T any](
	s *Site, c echo.Context, what, name string, format Format[T], each func(begin func() error, put func(T) error) error,
) error {
	ctx, actor := c.Request().Context(), ActorOf(c)
	w := c.Response()
	out := bufio.NewWriterSize(deadlineWriter{w}, 64<<10)
	header := w.Header()
	header.Set(echo.HeaderContentType, format.ContentType)
	header.Set(echo.HeaderContentDisposition,
		`attachment; filename="countersign-`+what+`-`+s.Kit.Now().UTC().Format("2006-01-02")+`.`+name+`"`)
	header.Set(echo.HeaderCacheControl, "no-store")
	n := 0
	send := func() error { return s.sendExport(ctx, w, out, actor) }
	// The browser shows at once that it has begun, however long the first row takes.
	// Nothing is written before the filters were found good: csv writes at once.
	var put func(T) error
	begin := func() (err error) {
		if put, err = format.Begin(out); err != nil {
			return err
		}
		return send()
	}
	err := each(begin, func(row T) error {
		if n++; n%exportedAtOnce == 0 {
			if err := send(); err != nil {
				return err
			}
		}
		return put(row)
	})
	if err == nil {
		err = send()
	}
	switch {
	case err == nil:
		return nil
	case !w.Committed:
		header.Del(echo.HeaderContentDisposition)
		return err
	case ctx.Err() == nil && models.ErrorCode(err) == models.CodeInternal && !errors.Is(err, errNotSent):
		s.Kit.LogInternal(c, err)
	}
	panic(http.ErrAbortHandler)
}

// errNotSent says that the reader is gone, or takes nothing.
var errNotSent = errors.New("the export could not be sent")

// deadlineWriter gives the reader of an export a time limit for each piece. A reader who
// reads nothing ends the export.
type deadlineWriter struct{ http.ResponseWriter }

func (p deadlineWriter) Write(piece []byte) (int, error) {
	handlers.WriteWithin(p.ResponseWriter, slowExport)
	return p.ResponseWriter.Write(piece)
}

// sendExport sends the rows written so far, if the reader may still have them.
func (s *Site) sendExport(ctx context.Context, w *echo.Response, out *bufio.Writer, actor models.Actor) error {
	if err := s.Store.People.CheckCredential(ctx, actor); err != nil {
		return err
	}
	if !w.Committed { // a flush before the first row would send a header that echo does not know of
		w.WriteHeader(http.StatusOK)
	}
	if err := errors.Join(out.Flush(), http.NewResponseController(w).Flush()); err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return nil
}

// CSVRows writes a header, and gives what writes a row whose cells no spreadsheet runs.
func CSVRows(w io.Writer, columns []string) (func(row []string) error, error) {
	out := csv.NewWriter(w)
	put := func(row []string) error {
		for i := range row {
			row[i] = models.HarmlessCell(row[i])
		}
		err := out.Write(row)
		out.Flush() // w gathers
		return errors.Join(err, out.Error())
	}
	return put, put(slices.Clone(columns))
}

// JSONLines gives what writes each row as one line of JSON, without characters that would not be seen.
func JSONLines[T any](w io.Writer, row func(T) any) func(T) error {
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	return func(t T) error {
		line.Reset()
		if err := out.Encode(row(t)); err != nil {
			return fmt.Errorf("export a row: %w", err)
		}
		_, err := io.WriteString(w, models.VisibleJSON(strings.TrimSuffix(line.String(), "\n"))+"\n")
		return err
	}
}

// TimeFormat is how files tell times.
const TimeFormat = "2006-01-02T15:04:05.000000Z"
