package agent

import "testing"

func TestTheCommandLineWarnsOfWhatATerminalReorders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":    "",
		"cp א/1":   "It contains right-to-left letters; your terminal may change their order.\n",
		"a\uFFFCb": "Hidden characters, written out in place: 1 blank character.\n",
	} {
		if got := hiddenLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
