package views_test

import (
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/views"
)

// Whatever a thing is called, its address names it, and shows all of it.
func TestAboutNamesAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kind, name := rapid.SampledFrom([]string{"tool", "rule"}).Draw(rt, "kind"), rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ":", "a%20b", "mail\u202Esend", "~:", "100 %"})).Draw(rt, "name")
		about := views.About(kind, name)
		gotKind, gotName, ok := views.ReadAbout(about)
		if !ok || gotKind != kind || gotName != name || models.RevealString(about, true) != about {
			rt.Fatalf("%q: %q %q %v", about, gotKind, gotName, ok)
		}
	})
	if _, _, ok := views.ReadAbout("tool~:%zz"); ok {
		t.Error("a wrong code is read")
	}
}
