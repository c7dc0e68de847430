package db

import (
	"fmt"
	"time"
)

// FileFormat is how the file writes a time.
const FileFormat = "2006-01-02 15:04:05.999999999-07:00"

// StoredTime reads a time as the driver writes it: an aggregate has no type by
// which the driver would.
func StoredTime(s string) (time.Time, error) {
	at, err := time.Parse(FileFormat, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("read a stored time: %w", err)
	}
	return at.UTC(), nil
}
