package system_test

import (
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestTheSystemPageTellsWhetherRowsAreAsTheLedgerTells after the weekly comparison.
func TestTheSystemPageTellsWhetherRowsAreAsTheLedgerTells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit, says string
	}{
		"as recorded": {"", "all match the audit trail"},
		"edited":      {`UPDATE users SET role = 'admin' WHERE email = '` + webtest.OwnerEmail + `'`, "1 records did not match the audit trail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.Ask()
			admin := w.SignIn(webtest.AdminEmail)
			admin.Get("/system").Is(http.StatusOK).Says(".checks", "Records against the audit trail", "Not compared yet")
			if c.edit != "" {
				storetest.Tampered(w.Store)
				if _, err := storetest.Beside(t, w.Store).ExecContext(t.Context(), c.edit); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := upkeep.New(w.Store).CheckRowsIfDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			admin.Get("/system").Is(http.StatusOK).Says(".checks", "Records against the audit trail", c.says)
		})
	}
}
