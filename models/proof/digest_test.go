package proof_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"testing"

	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/proof"
)

// TestAnotherProgramComputesTheDigest does what doc.go says.
func TestAnotherProgramComputesTheDigest(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	rows, err := proof.Open(t.Context(), d.Reads())
	if err != nil {
		t.Fatal(err)
	}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO stops (id, agent_id, note, at, by_id, by_name) VALUES ('s', '', 'Würde', '2026-03-02 12:00:00.5+00:00', 'u', 'Ann')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	// What is said of lifting has the values that the schema gives it.
	for _, column := range [][2]string{{"agent_id", ""}, {"at", "2026-03-02 12:00:00.5+00:00"}, {"by_id", "u"}, {"by_name", "Ann"}, {"id", "s"}, {"note", "Würde"}} {
		text = append(append(text, column[0]...), 0)
		text = append(binary.BigEndian.AppendUint64(text, uint64(len(column[1]))), column[1]...)
	}
	sum := sha256.Sum256(text)
	got, err := rows.DigestIn(t.Context(), d.Reads(), proof.Of("stops", "s"))
	if want := base64.RawURLEncoding.EncodeToString(sum[:]); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if got, err := rows.DigestIn(t.Context(), d.Reads(), proof.Of("stops", "another")); err != nil || got != "" {
		t.Errorf("of a row that is not there: %q, %v", got, err)
	}
	if _, err := rows.DigestIn(t.Context(), d.Reads(), proof.Of("stop", "s")); err == nil {
		t.Error("of a table that is not there: no error")
	}
}
