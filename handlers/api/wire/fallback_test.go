package wire_test

import (
	"testing"
	"time"

	"countersign/handlers/api/wire"
)

func TestFallbackStateIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	for text, want := range map[string]wire.FallbackState{
		"on": {On: true}, "off": {}, "on; until=2026-11-23T14:00:00Z": {On: true, Until: until},
	} {
		if got, ok := wire.ParseFallback(text); !ok || got != want || want.String() != text {
			t.Errorf("%q is read as %+v, %v, and written %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "ON", "on;", "on; until=", "on; until=soon", "off; until=2026-11-23T14:00:00Z", "on; until=0001-01-01T00:00:00Z", "on, off"} {
		if got, ok := wire.ParseFallback(text); ok || got.On {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}
