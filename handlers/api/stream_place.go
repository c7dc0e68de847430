package api

import (
	"strconv"
	"strings"

	"countersign/models"
)

// headerLastEventID says up to where a reader has heard.
const headerLastEventID = "Last-Event-ID"

// place is how far a reader has come: it has heard all entries up to after, and
// so many events of the one that follows.
type place struct {
	after int64
	part  int
}

// placeOf reads the id of an event: N, or N-1, N-2 … for those that are not the
// last of an entry. Nil: the reader has heard nothing and begins now.
func placeOf(id string) (*place, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	wrong := models.Invalid(headerLastEventID, "must be the id of an event of this stream, as 815 or 815-1")
	number, part, inside := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 62)
	if err != nil {
		return nil, wrong
	}
	if !inside {
		return &place{after: int64(n)}, nil
	}
	k, err := strconv.ParseUint(part, 10, 16)
	if err != nil || n == 0 || k == 0 {
		return nil, wrong
	}
	return &place{after: int64(n) - 1, part: int(k)}, nil
}

// idOf is the id of one of so many events of an entry, counted from 0.
func idOf(seq int64, i, of int) string {
	id := strconv.FormatInt(seq, 10)
	if i < of-1 {
		id += "-" + strconv.Itoa(i+1)
	}
	return id
}
