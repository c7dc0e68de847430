package wire

import (
	"strings"
	"time"
)

// HeaderFallback is sent by clients that may go on when no server answers. The answer's header says whether
// fallback_auto_approve is on for calls of this tool.
//
// A client that sends FallbackWithEnd understands an end and gets one: "on; until=TIME". A client that sends any other
// value knows only "on" and "off", and believes "on" for ten minutes after it receives the answer: it gets "on" only
// if the fallback lasts a minute longer than that.
const HeaderFallback = "Countersign-Fallback"

// FallbackWithEnd is what a client sends in HeaderFallback to be told of an end.
const FallbackWithEnd = "until"

const fallbackOn, fallbackOff, fallbackUntil = "on", "off", "on; until="

// FallbackState is what a server says of fallback_auto_approve.
type FallbackState struct {
	On    bool
	Until time.Time // no client may go on from then on; zero: it has no end
}

// String is how it is written in the answer's header.
func (f FallbackState) String() string {
	switch {
	case !f.On:
		return fallbackOff
	case f.Until.IsZero():
		return fallbackOn
	}
	return fallbackUntil + f.Until.UTC().Format(time.RFC3339)
}

// ParseFallback reads the answer's header; ok is false for what it does not know, which
// confirms nothing.
func ParseFallback(text string) (f FallbackState, ok bool) {
	switch text {
	case fallbackOff:
		return FallbackState{}, true
	case fallbackOn:
		return FallbackState{On: true}, true
	}
	end, ok := strings.CutPrefix(text, fallbackUntil)
	if !ok {
		return FallbackState{}, false
	}
	until, err := time.Parse(time.RFC3339, end)
	if err != nil || until.IsZero() {
		return FallbackState{}, false
	}
	return FallbackState{On: true, Until: until}, true
}
