package api

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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

// places writes and reads the ids of events. An id is one enciphered block of a
// place: who reads it can go on from there, and learns nothing of what happened in
// between that is not theirs to see.
type places struct{ block cipher.Block }

func newPlaces(key []byte) (places, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return places{}, fmt.Errorf("make the cipher of positions: %w", err)
	}
	return places{block}, nil
}

// id names a place.
func (p places) id(at place) string {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(at.after))
	binary.BigEndian.PutUint16(b[8:], uint16(at.part))
	p.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// of reads the id of an event. Those of earlier versions were numbers of the
// ledger, N, or N-1, N-2 … for those that are not the last of an entry. Nil: the
// reader has heard nothing and begins now.
func (p places) of(id string) (*place, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	if b, err := base64.RawURLEncoding.Strict().DecodeString(id); err == nil && len(b) == aes.BlockSize {
		p.block.Decrypt(b, b)
		after := binary.BigEndian.Uint64(b)
		if string(b[10:]) == strings.Repeat("\x00", aes.BlockSize-10) && int64(after) >= 0 {
			return &place{after: int64(after), part: int(binary.BigEndian.Uint16(b[8:]))}, nil
		}
	}
	return numbered(id)
}

func numbered(id string) (*place, error) {
	wrong := models.Invalid(headerLastEventID, "must be the id of an event of this server, or 0 to begin with the first")
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

// after is the place after one of so many events of an entry, counted from 0.
func after(seq int64, i, of int) place {
	if i < of-1 {
		return place{after: seq - 1, part: i + 1}
	}
	return place{after: seq}
}
