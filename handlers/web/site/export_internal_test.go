package site

import (
	"bufio"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// waiting is an answer that notes how long each write may take.
type waiting struct {
	*httptest.ResponseRecorder

	deadlines []time.Time
	undated   int // writes without a deadline of their own
	dated     bool
}

func (w *waiting) SetWriteDeadline(at time.Time) error {
	w.deadlines, w.dated = append(w.deadlines, at), true
	return nil
}

func (w *waiting) Write(p []byte) (int, error) {
	if !w.dated {
		w.undated++
	}
	w.dated = false
	return w.ResponseRecorder.Write(p)
}

// Every write of an export has a deadline, also those that a full buffer makes
// between two flushes: a reader who takes nothing ends it.
func TestEveryWriteOfAnExportHasADeadline(t *testing.T) {
	t.Parallel()
	w := &waiting{ResponseRecorder: httptest.NewRecorder()}
	out := bufio.NewWriterSize(deadlineWriter{w}, 16)
	for range 10 {
		if _, err := out.WriteString(strings.Repeat("x", 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if w.undated > 0 || len(w.deadlines) < 10 {
		t.Errorf("%d writes had no deadline of their own; %d deadlines were set", w.undated, len(w.deadlines))
	}
}
