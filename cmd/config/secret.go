package config

import (
	"log/slog"
)

// Secret is a text that is never logged or printed.
type Secret string

// String hides the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// GoString hides the text.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
