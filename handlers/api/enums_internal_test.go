package api

import (
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"countersign/handlers"
	"countersign/models/storetest"
)

// TestEnumTagsNameValuesOfTheLists: a member that takes only some values of a list
// names no other ones.
func TestEnumTagsNameValuesOfTheLists(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	a, err := New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: s.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}, s, "test")
	if err != nil {
		t.Fatal(err)
	}
	schemas, checked := a.described().huma.OpenAPI().Components.Schemas, 0
	for name := range schemas.Map() {
		of := schemas.TypeFromRef("#/components/schemas/" + name)
		if of == nil || of.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(of) {
			held := field.Type
			if held.Kind() == reflect.Pointer {
				held = held.Elem()
			}
			tag := field.Tag.Get("enum")
			if tag == enumAll && lists[held] == nil {
				t.Errorf("%s.%s: models lists no values of %s", name, field.Name, held)
			}
			if lists[held] == nil || tag == "" || tag == enumAll {
				continue
			}
			some := strings.Split(tag, ",")
			for _, value := range some {
				if !slices.Contains(lists[held], any(value)) {
					t.Errorf("%s.%s: %q is no %s", name, field.Name, value, held)
				}
			}
			if len(some) == len(lists[held]) {
				t.Errorf(`%s.%s: these are all values: write enum:"all"`, name, field.Name)
			}
			checked++
		}
	}
	if checked < 5 {
		t.Errorf("only %d tags were checked", checked)
	}
}
