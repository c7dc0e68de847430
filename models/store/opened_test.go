package store_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

func TestPartsAreOpenedByEachPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	opened := func(who models.Actor, want ...string) {
		t.Helper()
		got, err := b.Requests.OpenedParts(t.Context(), who, a.ID)
		storetest.Must(t, err)
		storetest.SameStrings(t, "opened", got, want)
	}
	before := storetest.Dump(t, b.Store)
	for name, tt := range map[string]struct {
		who  models.Actor
		part string
		code models.Code
	}{
		"I4: an agent": {b.Agent, "input", models.CodeForbidden}, "a stranger": {b.Stranger, "input", models.CodeNotFound},
		"no name": {b.Owner, "", models.CodeInvalid}, "other letters": {b.Owner, "Input", models.CodeInvalid}, "a space": {b.Owner, "a b", models.CodeInvalid},
		"too long": {b.Owner, strings.Repeat("a", 41), models.CodeInvalid},
	} {
		if err := b.OpenPart(t.Context(), tt.who, a.ID, tt.part); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	opened(b.Owner)
	for _, part := range []string{"input", "context-2", "input"} {
		storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, part))
	}
	opened(b.Owner, "context-2", "input")
	opened(b.Admin)
	for i := range 62 {
		storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, fmt.Sprint("part-", i)))
	}
	wantCode(t, b.OpenPart(t.Context(), b.Owner, a.ID, "one-more"), models.CodeInvalid)
	storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, "input")) // that one is open
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{"agent approval.requested"})
}
