package audit_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

// hostile is a name that does harm where it is shown as it is: a formula to a
// spreadsheet, and a word that reads backwards.
const hostile = "=HYPERLINK(\"http://evil\")\u202ecod.exe"

// hostileLedger has a person of that name who acted.
func hostileLedger(t *testing.T) (dir string) {
	t.Helper()
	dir = storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	for email, name := range map[string]string{"eve@example.com": hostile, "ann@example.com": "Ann"} {
		u, err := s.People.AddUser(t.Context(), storetest.Operator(), people.NewUser{Email: email, Name: name, Role: models.RoleReviewer, Password: storetest.Password})
		if err != nil {
			t.Fatal(err)
		}
		actor := models.Actor{Kind: models.ActorUser, ID: string(u.ID), Name: u.Name, OwnerID: u.ID}
		if _, _, err := s.People.AddToken(t.Context(), actor, people.NewToken{Scope: models.ScopeReviewer, Name: "-2+3", UserID: u.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAuditExportAsCSVIsHarmless(t *testing.T) {
	t.Parallel()
	dir := hostileLedger(t)
	out := process.Must(t, "", "audit", "export", "--format", "csv", "--data", dir)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 5 || rows[0][0] != "seq" || rows[1][0] != "1" {
		t.Fatalf("rows: %q", rows)
	}
	seen := false
	for _, row := range rows {
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t") {
				t.Errorf("a cell of %s begins as a formula: %q", rows[0][i], cell)
			}
			seen = seen || cell == `'=HYPERLINK("http://evil")⟨U+202E⟩cod.exe`
		}
	}
	if !seen || strings.Contains(out, "\u202e") {
		t.Errorf("the name must stand there, made harmless:\n%s", out)
	}
}

func TestAuditExportAsJSONIsExact(t *testing.T) {
	t.Parallel()
	dir := hostileLedger(t)
	out := process.Must(t, "", "audit", "export", "--format", "jsonl", "--data", dir)
	if strings.Contains(out, "\u202e") || !strings.Contains(out, `\u202e`) {
		t.Errorf("a direction control must be escaped:\n%s", out)
	}
	names, seq := map[string]bool{}, 0
	for line := range strings.Lines(out) {
		var e struct {
			Seq       int            `json:"seq"`
			ActorName string         `json:"actorName"`
			Data      map[string]any `json:"data"`
			Hash      string         `json:"hash"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if seq++; e.Seq != seq || len(e.Hash) != 64 || len(e.Data) == 0 {
			t.Errorf("entry %d: %+v", seq, e)
		}
		names[e.ActorName] = true
	}
	if !names[hostile] {
		t.Errorf("names %v, want the exact one", names)
	}
	head := process.Must(t, "", "audit", "verify", "--data", dir)
	if last := out[strings.LastIndex(out, `"hash":"`)+8:][:64]; !strings.Contains(head, last) {
		t.Errorf("the export ends with %s; %s", last, head)
	}
}

func TestAuditExportSelects(t *testing.T) {
	t.Parallel()
	data := "--data=" + hostileLedger(t)
	count := func(args ...string) int {
		t.Helper()
		return strings.Count(process.Must(t, "", append([]string{"audit", "export", data}, args...)...), "\n")
	}
	all := count()
	if eve := count("--user", "eve@example.com"); eve == 0 || eve >= all {
		t.Errorf("%d of %d entries of one person", eve, all)
	}
	for since, want := range map[string]int{"1h": all, "2026-01-01": all, "2999-01-01": 0, "2999-01-01T08:00:00+02:00": 0} {
		if got := count("--since", since); got != want {
			t.Errorf("--since %s: %d entries, want %d", since, got, want)
		}
	}
	for _, args := range [][]string{{"--format", "xml"}, {"--since", "yesterday"}, {"--user", "nobody@example.com"}} {
		if out, said, code := process.Run(t, "", append([]string{"audit", "export", data}, args...)...); code != 1 || said == "" || out != "" {
			t.Errorf("%v: exit %d, %q, printed %q; want a refusal", args, code, said, out)
		}
	}
}
