package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// RowDigest proves columns of a row that its ledger entry does not spell out: the
// SHA-256 over each value, with its length before it, so that no two rows share an
// encoding. A nil value is not an empty one.
func RowDigest(values ...*string) string {
	buf := make([]byte, 0, 512)
	for _, v := range values {
		if v == nil {
			buf = binary.BigEndian.AppendUint64(buf, 1<<63)
			continue
		}
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(*v)))
		buf = append(buf, *v...)
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:])
}

// SecretDigest proves the stored hash of a secret without being that hash.
func SecretDigest[T ~string](id T, hash string) string {
	name := string(id)
	return RowDigest(&name, &hash)
}
