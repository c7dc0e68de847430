package models

import (
	"context"
	"log/slog"
	"slices"
)

type loggedKey struct{}

// Logged is ctx with attributes for each log line written under it: which request the line belongs to, or which worker
// writes it.
func Logged(ctx context.Context, attrs ...slog.Attr) context.Context {
	before, _ := ctx.Value(loggedKey{}).([]slog.Attr)
	return context.WithValue(ctx, loggedKey{}, slices.Concat(before, attrs))
}

// LogHandler adds to each line what Logged has put into its context, behind its own attributes.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

// Handle writes one record.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, _ := ctx.Value(loggedKey{}).([]slog.Attr); len(attrs) > 0 {
		r = r.Clone() // other handlers may have the record too
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the addition.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the addition.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
