package pages_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages"
)

// A group whose calls differ in what their headlines leave out does not read as one call
// several times (I6).
func TestAGroupOfDifferentInputsDoesNotReadAsOneI6(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 150)
	for name, inputs := range map[string][]string{
		"the folder":           {`{"command":"make","cwd":"/srv/a"}`, `{"command":"make","cwd":"/srv/b"}`, `{"command":"make","cwd":"/"}`},
		"what is in the cut":   {`{"command":"ls ` + long + `x` + long + `"}`, `{"command":"ls ` + long + `y` + long + `"}`, `{"command":"ls ` + long + `z` + long + `"}`},
		"the text of a script": {`{"command":"cat >` + long + `; ls"}`, `{"command":"cat </etc/shadow ` + long + `; ls"}`, `{"command":"cat >` + long + `; ls"}`},
	} {
		rows := gallery.Many(len(inputs))
		for i := range rows {
			rows[i].ToolInputJSON = inputs[i]
			rows[i].ApprovalTimeoutAt = gallery.Now.Add(time.Duration(i+1) * time.Minute)
		}
		v := pages.NewInbox(pages.InboxInput{Rows: rows}, now)
		if g := v.Entries[0].Group; g != nil && g.Same == g.Rows[0].Summary && g.Rows[1].Summary == g.Rows[0].Summary {
			t.Errorf("%s: the group and each of its rows read %q", name, g.Same)
		}
	}
}

// A word with letters that look like others is told of in words that say so.
func TestAWordWithLookAlikesOfItsOwnScriptIsToldOf(t *testing.T) {
	t.Parallel()
	scripts, mixes := models.MixedScripts("Pay 5 EUR to Nordlıcht Hosting")
	if !mixes {
		t.Fatal("it is not told of")
	}
	if len(scripts) == 2 && scripts[0] == scripts[1] {
		t.Errorf("the note reads: mixes %s", strings.Join(scripts, " and "))
	}
}
