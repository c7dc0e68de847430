package static

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each script and style sheet of ours comes to browsers: in a bundle, or alone.
func TestEachFileIsServed(t *testing.T) {
	t.Parallel()
	listed := slices.Concat(appScripts, visitScripts, alone, sheets)
	for _, dir := range []string{"js", "css"} {
		entries, err := files.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := dir + "/" + e.Name(); !slices.Contains(listed, name) {
				t.Errorf("%s is in no bundle", name)
			}
		}
	}
	for _, bundle := range [][]string{appScripts, visitScripts, sheets} {
		if sorted := slices.Sorted(slices.Values(bundle)); len(slices.Compact(sorted)) != len(bundle) {
			t.Errorf("a file comes twice: %v", bundle)
		}
		for _, name := range bundle {
			embedded(name) // panics where it is not there
		}
	}
}

// onlyModules are lines that only a module may have.
var onlyModules = regexp.MustCompile(`(?m)^(import|export|await)\b`)

// A module would be a file of its own, and text of several lines would lose what its lines
// begin with.
func TestScriptsCanBeJoined(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(appScripts, visitScripts) {
		if strings.HasPrefix(name, "vendor/") {
			continue
		}
		if found := onlyModules.Find(embedded(name)); found != nil {
			t.Errorf("%s is a module: %s", name, found)
		}
		for line := range strings.Lines(string(withoutComments(embedded(name)))) {
			line = strings.TrimSuffix(line, "\n")
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s: text goes over the end of a line: %s", name, line)
			}
			if strings.HasSuffix(line, `\`) || strings.HasPrefix(line, "/*") {
				t.Errorf("%s: a line goes on: %s", name, line)
			}
		}
	}
}

func TestJoinedScriptsAreApart(t *testing.T) {
	t.Parallel()
	app := joinedScripts(appScripts)
	for _, name := range appScripts {
		if strings.HasPrefix(name, "vendor/") {
			if !bytes.Contains(app, embedded(name)) {
				t.Errorf("%s is not there as it was", name)
			}
			continue
		}
		begin := "// " + name + "\ntry { (() => {\n\"use strict\";\n"
		if _, after, found := bytes.Cut(app, []byte(begin)); !found || !bytes.HasPrefix(after, withoutComments(embedded(name))) {
			t.Errorf("%s is not there", name)
		}
	}
	if bytes.Index(app, []byte("var htmx=")) != 0 {
		t.Error("htmx is not first")
	}
	if n := len(compress(app)); n > 48<<10 {
		t.Errorf("the scripts have %d bytes, packed", n)
	}
}

func TestCommentsAreLeftOut(t *testing.T) {
	t.Parallel()
	got := string(withoutComments([]byte("// one\nconst a = 1; // two\n\n  // three\n\tif (a) {\n    b(\"// four\");\n  }\n")))
	if want := "const a = 1; // two\nif (a) {\nb(\"// four\");\n}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheWorkerKeepsOnlyWhatIsPublic(t *testing.T) {
	t.Parallel()
	script := string(Worker("/offline", []byte("one")))
	head, source, _ := strings.Cut(script, "\n// The service worker")
	if source == "" || !strings.Contains(head, `const OFFLINE = "/offline";`) || strings.Count(head, Prefix) != len(Offline) {
		t.Errorf("it begins with %s", head)
	}
	for _, name := range Offline {
		if _, _, ok := Lookup(URL(name)); !ok || !strings.Contains(head, `"`+URL(name)+`"`) {
			t.Errorf("%s is not kept", name)
		}
	}
	if again := string(Worker("/offline", []byte("one"))); again != script {
		t.Error("the same content makes another worker")
	}
	if other := string(Worker("/offline", []byte("two"))); other == script {
		t.Error("another content makes the same worker")
	}
}
