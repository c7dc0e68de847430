package handlers

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"github.com/labstack/echo/v4"
)

// headerRequestID carries the id that ties an answer to its line in the log.
const headerRequestID = "X-Request-Id"

// newRequestID is 16 hexadecimal digits. It names a line in a log and guards
// nothing, so it need not be hard to guess; one sent by the caller is not taken.
func newRequestID() string {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], rand.Uint64()) //nolint:gosec // see above
	var text [16]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}

// RequestID is the id of the request that c answers.
func RequestID(c echo.Context) string { return c.Response().Header().Get(headerRequestID) }
