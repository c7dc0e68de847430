package store

import (
	"encoding/base64"
	"strings"
	"time"

	"countersign/models"
)

// maxID sorts behind every UUID.
const maxID = "~"

// cursor is the key of the last row of a page. To readers it is opaque.
type cursor struct {
	at time.Time
	id string
}

func (c cursor) String() string {
	if c.at.IsZero() {
		return c.id
	}
	return base64.RawURLEncoding.EncodeToString([]byte(c.at.Format(timeFormat) + " " + c.id))
}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	wrong := models.Invalid("cursor", "must be the `next` of a page before")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return cursor{}, wrong
	}
	when, id, ok := strings.Cut(string(raw), " ")
	at, err := time.Parse(timeFormat, when)
	if !ok || err != nil {
		return cursor{}, wrong
	}
	if _, err := models.ParseID[models.ResponseID]("cursor", id); err != nil {
		return cursor{}, wrong
	}
	return cursor{at: at, id: id}, nil
}

// cut drops the row that was read to see whether there are more, and names the
// key to go on from.
func cut[T any](items []T, limit int, key func(*T) cursor) ([]T, string) {
	if len(items) <= limit {
		return items, ""
	}
	items = items[:limit]
	return items, key(&items[limit-1]).String()
}

func pageSize(n int) int {
	if n <= 0 {
		return DefaultPage
	}
	return min(n, MaxPage)
}
