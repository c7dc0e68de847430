package webtest

import (
	"countersign/models/policy"
)

// PolicyIs checks which version of the policy holds.
func (w *World) PolicyIs(version int64) policy.Document {
	w.TB.Helper()
	v, err := w.Store.CurrentPolicy(w.TB.Context())
	if err != nil || v.Version != version {
		w.TB.Fatalf("version %d is active, want %d (%v)", v.Version, version, err)
	}
	return v.Program.Document()
}

// ApplyPolicy puts a policy document in force.
func (w *World) ApplyPolicy(document string) {
	w.TB.Helper()
	if _, err := w.Store.ApplyPolicy(w.TB.Context(), w.Admin, []byte(document), "", 0); err != nil {
		w.TB.Fatalf("apply policy: %v", err)
	}
}
