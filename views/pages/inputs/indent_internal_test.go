package inputs

import (
	"strings"
	"testing"
)

// Laid out, a long list of many levels would take thirty times as much as it was sent in.
func TestWhatIsTooLongIsNotLaidOut(t *testing.T) {
	t.Parallel()
	if got := Indent([]byte(`{"a":[1]}`)); got != "{\n  \"a\": [\n    1\n  ]\n}" {
		t.Errorf("a short one is laid out as %q", got)
	}
	long := strings.Repeat("[", 60) + strings.Repeat("1,", indentMost/2) + "1" + strings.Repeat("]", 60)
	if got := Indent([]byte(long)); got != long {
		t.Errorf("%d bytes are laid out as %d", len(long), len(got))
	}
}
