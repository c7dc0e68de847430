package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"countersign/models"
)

// Whatever comes in, in whatever pieces, goes out; and the lines are those of the
// whole.
func TestTapPassesOnEveryByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Just([]byte("\n")), rapid.Just([]byte("\r\n")), rapid.Just([]byte(`{"type":"x"}`+"\n")),
		)).Draw(t, "pieces")
		in := slices.Concat(pieces...)
		var out bytes.Buffer
		var lines [][]byte
		tap := &tap{out: &out, each: func(line []byte, position int64) {
			if position != int64(len(lines)) {
				t.Fatalf("line %d has the position %d", len(lines), position)
			}
			lines = append(lines, bytes.Clone(line))
		}}
		readers := make([]io.Reader, len(pieces))
		for i := range pieces {
			readers[i] = bytes.NewReader(pieces[i])
		}
		if err := tap.copy(io.MultiReader(readers...)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), in) {
			t.Fatalf("%q became %q", in, out.Bytes())
		}
		want := bytes.Split(in, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		if !slices.EqualFunc(lines, want, bytes.Equal) {
			t.Fatalf("the lines are %q, want %q", lines, want)
		}
	})
}

func TestTapPassesOnWhatItDoesNotRead(t *testing.T) {
	t.Parallel()
	var read []int
	each := func(line []byte, _ int64) { read = append(read, len(line)) }
	in := strings.Repeat("x", maxLine) + "\n" + strings.Repeat("y", maxLine+1) + "\nz\n" + strings.Repeat("w", maxLine+1)
	var out bytes.Buffer
	var long []string
	tp := &tap{out: &out, each: each, tooLong: func(beginning []byte, position int64) {
		long = append(long, fmt.Sprintf("%d %.2s %d", position, beginning, len(beginning)))
	}}
	if err := tp.copy(strings.NewReader(in)); err != nil || out.String() != in || !slices.Equal(long, []string{"1 yy 256", "3 ww 256"}) || !slices.Equal(read, []int{maxLine, 1}) || tp.position != 4 {
		t.Errorf("%v: %d of %d bytes; %v too long, read %v", err, out.Len(), len(in), long, read)
	}

	broken := errors.New("broken")
	read = nil
	tp = &tap{out: io.Discard, each: each}
	if err := tp.copy(io.MultiReader(strings.NewReader("a\nbc"), iotest.ErrReader(broken))); !errors.Is(err, broken) || !slices.Equal(read, []int{1, 2}) {
		t.Errorf("an input that breaks off: %v, read %v", err, read)
	}
	read = nil
	tp = &tap{out: writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE }), each: each}
	if err := tp.copy(iotest.OneByteReader(strings.NewReader("a\nbc\n"))); err != nil || !tp.readerLeft() || !slices.Equal(read, []int{1, 2}) {
		t.Errorf("a reader who leaves: %v, read %v", err, read)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestSpool(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ru*ns[1]")
	s, err := newSpool(dir, "http://a", "run")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, s.path} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v %v", path, info.Mode(), err)
		}
	}
	take := func(s *spool, want int) []byte {
		t.Helper()
		lines, _, err := s.next()
		if err != nil || len(lines) != want {
			t.Fatalf("next: %d bytes, want %d: %v", len(lines), want, err)
		}
		return lines
	}
	add := func(s *spool, line string) {
		t.Helper()
		if err := s.add([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	take(s, 0)
	long := strings.Repeat("x", maxReport*6/10) + "\n"
	add(s, long)
	add(s, long)
	take(s, len(long))
	take(s, len(long)) // nothing was forgotten
	s.done(len(long))
	take(s, len(long))
	if s.waiting() != 1 {
		t.Errorf("%d lines wait, want 1", s.waiting())
	}
	s.done(len(long))
	take(s, 0)
	if info, err := os.Stat(s.path); err != nil || info.Size() != 0 {
		t.Errorf("a file of which all was sent has %d bytes (%v)", info.Size(), err)
	}
	for range 1000 {
		add(s, "y\n")
	}
	take(s, 2*maxReported)
	exact := strings.Repeat("z", maxReport-1) + "\n"
	s.done(2000)
	add(s, exact)
	take(s, maxReport)
	s.done(maxReport)
	add(s, "kept\n")

	if left := leftSpools(dir, "http://a", "run"); len(left) != 0 {
		t.Fatalf("the file of one that runs is taken: %v", left)
	}
	if _, err := s.file.WriteAt([]byte("half a li"), s.size); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if err := s.release(false); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{"http://b", "run"}, {"http://a", "run2"}} {
		if left := leftSpools(dir, other[0], other[1]); len(left) != 0 {
			t.Errorf("%v: it is taken", other)
		}
	}
	left := leftSpools(dir, "http://a", "run")
	if len(left) != 1 || string(take(left[0], 5)) != "kept\n" {
		t.Fatalf("%d files were left", len(left))
	}
	left[0].done(5)
	if lines, last, err := left[0].next(); len(lines) > 0 || !last || err != nil {
		t.Errorf("after the last whole line: %q %v %v", lines, last, err)
	}
	if err := left[0].release(true); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("in the folder remain %v (%v)", entries, err)
	}
	if maxReport >= models.MaxBody {
		t.Error("requests are too large")
	}
}
