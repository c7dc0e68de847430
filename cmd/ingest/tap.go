package ingest

import (
	"bytes"
	"errors"
	"io"
	"syscall"
)

// maxLine is the longest line that is read; a longer one is only passed on.
const maxLine = 16 << 20

// keptOfLong is how much of a longer one is kept, to say which it was.
const keptOfLong = 256

// tap passes bytes on as they come and hands out the lines among them. Nothing
// that becomes of the lines, nor a reader who has left, stops it.
type tap struct {
	out  io.Writer
	each func(line []byte, position int64) // the line, without its end, is valid during the call

	position int64 // of the next line, from 0
	line     []byte
	skip     bool   // within a line that is too long
	start    []byte // the beginning of it
	tooLong  func(start []byte, position int64)
	err      error // why nothing is passed on any more; EPIPE: the reader has left
}

// copy works until in ends.
func (t *tap) copy(in io.Reader) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			t.pass(buf[:n])
			t.split(buf[:n])
		}
		if err != nil {
			if len(t.line) > 0 || t.skip { // the last line may lack its end
				t.end()
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func (t *tap) pass(b []byte) {
	if t.err == nil {
		_, t.err = t.out.Write(b)
	}
}

// readerLeft reports whether the output has no reader any more.
func (t *tap) readerLeft() bool { return errors.Is(t.err, syscall.EPIPE) }

func (t *tap) split(b []byte) {
	for {
		before, after, whole := bytes.Cut(b, []byte{'\n'})
		switch {
		case t.skip:
		case len(t.line)+len(before) > maxLine:
			t.start = append(t.start[:0], t.line[:min(len(t.line), keptOfLong)]...)
			t.start = append(t.start, before[:min(len(before), keptOfLong-len(t.start))]...)
			t.skip, t.line = true, nil
		default:
			t.line = append(t.line, before...)
		}
		if !whole {
			return
		}
		t.end()
		b = after
	}
}

func (t *tap) end() {
	if t.skip {
		t.tooLong(t.start, t.position)
	} else {
		t.each(t.line, t.position)
	}
	t.position++
	t.skip = false
	if t.line = t.line[:0]; cap(t.line) > 1<<20 {
		t.line = nil
	}
}
