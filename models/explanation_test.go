package models_test

import (
	"reflect"
	"strings"
	"testing"

	"countersign/models"
)

// Every text of the struct is in its list, under the name that agents send.
func TestMembersOfAnExplanationAreAllOfIt(t *testing.T) {
	t.Parallel()
	var e models.Explanation
	members := map[string]any{}
	for _, m := range e.Members() {
		members[m.Name] = m.Text
	}
	fields := reflect.ValueOf(&e).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		if members[name] != fields.Field(i).Addr().Interface() {
			t.Errorf("%s is no member under %q", fields.Type().Field(i).Name, name)
		}
	}
	if len(members) != fields.NumField() {
		t.Errorf("%d members of %d fields", len(members), fields.NumField())
	}
}

func TestEachMemberOfAnExplanationHasALimit(t *testing.T) {
	t.Parallel()
	for i := range new(models.Explanation).Members() {
		var e, kept models.Explanation
		m := e.Members()[i]
		if *m.Text = strings.Repeat("x", m.Limit); e.Check() != nil {
			t.Errorf("%s: %d bytes are refused", m.Name, m.Limit)
		}
		if e.Repeats(&kept) {
			t.Errorf("%s: a new text repeats none", m.Name)
		}
		if kept = e; !e.Repeats(&kept) || !new(models.Explanation).Repeats(&kept) {
			t.Errorf("%s: the same text, or none, is no repeat", m.Name)
		}
		if *m.Text += "x"; e.Check() == nil || !strings.Contains(e.Check().Error(), m.Name) {
			t.Errorf("%s: %v for a byte too many", m.Name, e.Check())
		}
	}
}
