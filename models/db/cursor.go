package db

import (
	"encoding/base64"
	"strings"
	"time"

	"countersign/models"
)

// MaxID sorts behind every UUID.
const MaxID = "~"

// Cursor is the key of the last row of a page. To readers it is opaque.
type Cursor struct {
	At time.Time
	ID string
}

func (c Cursor) String() string {
	if c.At.IsZero() {
		return c.ID
	}
	return base64.RawURLEncoding.EncodeToString([]byte(c.At.Format(TimeFormat) + " " + c.ID))
}

// ParseCursor reads a cursor; empty is the first page. CodeInvalid for any other text.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	wrong := models.Invalid("cursor", "must be the `next` of an earlier page")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return Cursor{}, wrong
	}
	when, id, ok := strings.Cut(string(raw), " ")
	at, err := time.Parse(TimeFormat, when)
	if !ok || err != nil {
		return Cursor{}, wrong
	}
	if _, err := models.ParseID[models.ResponseID]("cursor", id); err != nil {
		return Cursor{}, wrong
	}
	return Cursor{At: at, ID: id}, nil
}

// Cut drops the row that was read to see whether there are more, and names the
// key to go on from.
func Cut[T any](items []T, limit int, key func(*T) Cursor) ([]T, string) {
	if len(items) <= limit {
		return items, ""
	}
	items = items[:limit]
	return items, key(&items[limit-1]).String()
}

// PageSize is how many rows a page of a list has of which n were asked.
func PageSize(n int) int {
	if n <= 0 {
		return models.DefaultPage
	}
	return min(n, models.MaxPage)
}
