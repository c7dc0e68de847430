package upstream_test

import (
	"errors"
	"testing"

	"countersign/models"
	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

func TestWhereACallStands(t *testing.T) {
	t.Parallel()
	s, c := pair(t, upstream.Cloud, upstreamtest.Options{})
	s.Ask(numbered(1, 4)...)
	s.AskHuman(upstreamtest.Contact{CallID: "h1", Msg: "a"}, upstreamtest.Contact{CallID: "h2", Msg: "b"})
	s.Settle("c2", true, "")
	s.Settle("c3", false, "no")
	s.Remove("c4")
	s.Settle("h2", false, "eu")
	for id, want := range map[string]upstream.RemoteState{
		"c1": {}, "c2": {HasDecision: true, Approved: true}, "c3": {HasDecision: true, Text: "no"},
	} {
		got, err := c.ReadBackCall(t.Context(), id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if got.RespondedAt.IsZero() == want.HasDecision {
			t.Errorf("%s: responded at %s", id, got.RespondedAt)
		}
		want.RespondedAt = got.RespondedAt
		if *got != want {
			t.Errorf("%s: %+v, want %+v", id, *got, want)
		}
	}
	if got, err := c.ReadBackContact(t.Context(), "h1"); err != nil || got.HasDecision {
		t.Errorf("h1: %v %+v", err, got)
	}
	if got, err := c.ReadBackContact(t.Context(), "h2"); err != nil || !got.HasDecision || got.Text != "eu" {
		t.Errorf("h2: %v %+v", err, got)
	}
	for _, id := range []string{"c4", "c5", ""} {
		if _, err := c.ReadBackCall(t.Context(), id); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestTheLostVerdictIsFoundAgain(t *testing.T) {
	t.Parallel()
	s, c := pair(t, upstream.Cloud, upstreamtest.Options{Plan: upstreamtest.Script("c1", upstreamtest.Fault{Drop: true, Handled: true})})
	s.Ask(numbered(1, 1)...)
	if o := c.RespondCall(t.Context(), "c1", false, "no"); o.Delivery != upstream.Retry || !o.Lost {
		t.Fatalf("first: %+v", o)
	}
	if o := c.RespondCall(t.Context(), "c1", false, "no"); o.Delivery != upstream.Conflict {
		t.Fatalf("second: %+v", o)
	}
	if at, err := c.ReadBackCall(t.Context(), "c1"); err != nil || !at.HasDecision || at.Approved || at.Text != "no" {
		t.Errorf("%v %+v", err, at)
	}
}

func TestThePlainDialectCannotReadBack(t *testing.T) {
	t.Parallel()
	s, c := pair(t, upstream.Plain, upstreamtest.Options{})
	_, err := c.ReadBackCall(t.Context(), "c1")
	_, err2 := c.ReadBackContact(t.Context(), "c1")
	if !errors.Is(err, upstream.ErrCannot) || !errors.Is(err2, upstream.ErrCannot) || len(s.Requests()) != 0 {
		t.Errorf("%v, %v", err, err2)
	}
}

func TestAReadingThatFailsTellsNothing(t *testing.T) {
	t.Parallel()
	for what, f := range map[string]upstreamtest.Fault{
		"failed": {Status: 500}, "cut": {Cut: true}, "half": {Half: true}, "a page": {HTML: true}, "dropped": {Drop: true}, "redirect": {Status: 302},
	} {
		s, c := pair(t, upstream.Cloud, upstreamtest.Options{Plan: faulty(upstreamtest.ReadCall, f)})
		s.Ask(numbered(1, 1)...)
		s.Settle("c1", true, "")
		if at, err := c.ReadBackCall(t.Context(), "c1"); models.ErrorCode(err) != models.CodeUnavailable || at != nil {
			t.Errorf("%s: %v %+v", what, err, at)
		} else {
			keepsSecrets(t, what, err.Error())
		}
	}
}
