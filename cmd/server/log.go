package server

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"countersign/cmd/config"
	"countersign/models"
)

const (
	logEvery = 100 * time.Millisecond // how long a line may wait for company
	logRoom  = 32 << 10               // bytes that may wait
)

// NewLogger makes the server's log. Lines of level info and below are written a
// tenth of a second's worth at a time, for a system call a request is felt under
// load; a warning or an error takes everything before it along at once. A line has
// the request or the worker of its context (models.Logged). Flush it at the end.
func NewLogger(cfg config.Config, w io.Writer) (log *slog.Logger, flush func()) {
	lines := &batchedLines{w: w}
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	var h slog.Handler = slog.NewTextHandler(lines, opts)
	if cfg.LogFormat == "json" {
		h = slog.NewJSONHandler(lines, opts)
	}
	return slog.New(models.LogHandler(promptHandler{h, lines})), lines.flush
}

// promptHandler flushes behind what somebody should see now.
type promptHandler struct {
	slog.Handler

	lines *batchedLines
}

// Handle writes one record.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.lines.flush()
	}
	return err
}

// WithAttrs keeps the flushing.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.lines}
}

// WithGroup keeps the flushing.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.lines}
}

// batchedLines gathers lines for a moment.
type batchedLines struct {
	mu    sync.Mutex
	w     io.Writer
	buf   []byte
	timer bool
}

func (b *batchedLines) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, line...)
	if len(b.buf) >= logRoom {
		return len(line), b.write()
	}
	if !b.timer {
		b.timer = true
		time.AfterFunc(logEvery, b.flush)
	}
	return len(line), nil
}

func (b *batchedLines) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = false
	_ = b.write() // a log that cannot be written has no place to say so
}

func (b *batchedLines) write() error {
	_, err := b.w.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}
