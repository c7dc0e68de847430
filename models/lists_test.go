package models_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
)

// TestEveryValueIsInItsList reads the constants of the four types from the source, so
// that a new one without a row in its list fails here.
func TestEveryValueIsInItsList(t *testing.T) {
	t.Parallel()
	listed := map[string][]string{
		"Kind": words(models.Kinds()), "Risk": words(models.Risks()),
		"Status": append(words(models.Statuses()), ""), "Cause": append(words(models.Causes()), ""),
		"ChannelKind": words(models.ChannelKinds()), "NoticeKind": words(models.NoticeKinds()), "SendClass": words(models.SendClasses()),
		"WebhookPause": words(models.WebhookPauses()),
	}
	for name, values := range constants(t) {
		list, watched := listed[name]
		if !watched {
			continue
		}
		slices.Sort(values)
		slices.Sort(list)
		if !slices.Equal(values, list) {
			t.Errorf("%s: the constants are %q, the list is %q", name, values, list)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s: no constants were found", name)
	}
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, value := range list {
		out[i] = string(value)
	}
	return out
}

// constants are the values of this package's typed string constants, by type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, typed := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if typed && literal && value.Kind == token.STRING {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				out[kind.Name] = append(out[kind.Name], text)
			}
			return true
		})
	}
	return out
}

func TestFinalStatusesAreFinal(t *testing.T) {
	t.Parallel()
	for _, s := range append(models.Statuses(), models.StatusNone) {
		if s.Final() != slices.Contains(models.FinalStatuses(), s) {
			t.Errorf("%q: final %t", s, s.Final())
		}
	}
}

// What is decided alone is also looked at alone, and no level below another asks for
// more than it.
func TestRisksRise(t *testing.T) {
	t.Parallel()
	var below models.Risk
	for _, r := range models.Risks() {
		if r.DecidedAlone() && !r.NeedsDigest() {
			t.Errorf("%s is decided alone without a digest", r)
		}
		if below.NeedsDigest() && !r.NeedsDigest() || below.DecidedAlone() && !r.DecidedAlone() {
			t.Errorf("%s asks for less than %s", r, below)
		}
		below = r
	}
	if down := models.RisksDown(); down[0] != below || len(down) != len(models.Risks()) {
		t.Errorf("downwards: %q", down)
	}
}

// A cause says why a request was settled, or why nobody was asked, or, as a rule of
// the policy does, either. What ran without an answer is one that nobody was asked about, or
// rejected, where a rule denies it.
func TestEveryCauseLetsThroughOrSettles(t *testing.T) {
	t.Parallel()
	var both []models.Cause
	for _, c := range models.Causes() {
		if !c.LetsThrough() && !c.Settles() {
			t.Errorf("%s does neither", c)
		}
		if c.LetsThrough() && c.Settles() {
			both = append(both, c)
		}
	}
	if !slices.Equal(both, []models.Cause{models.CausePolicy, models.CauseFallback}) {
		t.Errorf("both: %q", both)
	}
	if models.CauseNone.LetsThrough() || models.CauseNone.Settles() {
		t.Error("no cause is a cause")
	}
}

func TestEveryKindHasItsWord(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range models.Kinds() {
		if word := k.Word(); word == "" || seen[word] || strings.Contains(word, "_") {
			t.Errorf("%s is %q", k, word)
		}
		seen[k.Word()] = true
	}
}

func TestAnyOf(t *testing.T) {
	t.Parallel()
	for want, values := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := models.AnyOf(values); got != want {
			t.Errorf("%q: %q, want %q", values, got, want)
		}
	}
}
