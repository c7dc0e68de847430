package upstream_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

func TestPagesAreReadUntilTheyStayTheSame(t *testing.T) {
	t.Parallel()
	first := func(offset int, f upstreamtest.Fault) func(upstreamtest.Request) upstreamtest.Fault {
		return func(r upstreamtest.Request) upstreamtest.Fault {
			if r.Offset == offset && r.Nth == 0 {
				return f
			}
			return upstreamtest.Fault{}
		}
	}
	always := func(f upstreamtest.Fault) func(upstreamtest.Request) upstreamtest.Fault {
		return func(upstreamtest.Request) upstreamtest.Fault { return f }
	}
	fresh := 100
	for _, c := range []struct {
		what     string
		calls    int
		plan     func(upstreamtest.Request) upstreamtest.Fault
		want     []string
		complete bool
		requests int
	}{
		{what: "one page is one moment", calls: 3, want: []string{"c1", "c2", "c3"}, complete: true, requests: 1},
		{what: "a page that is just full", calls: 4, want: []string{"c1", "c2", "c3", "c4"}, complete: true, requests: 1},
		{what: "two pages, twice", calls: 6, want: []string{"c1", "c2", "c3", "c4", "c5", "c6"}, complete: true, requests: 4},
		{
			what: "one is settled in between: the last is read in its place", calls: 6, want: []string{"c2", "c3", "c4", "c5", "c6"}, complete: true, requests: 6,
			plan: first(0, upstreamtest.Fault{Then: func(s *upstreamtest.Server) { s.Settle("c1", true, "") }}),
		},
		{
			what: "one settled and one asked in between: no total tells", calls: 6, want: []string{"c2", "c3", "c4", "c5", "c6", "new"}, complete: true, requests: 6,
			plan: first(0, upstreamtest.Fault{Then: func(s *upstreamtest.Server) {
				s.Settle("c1", true, "")
				s.Ask(upstreamtest.Call{CallID: "new", Fn: "Bash"})
			}}),
		},
		{
			what: "one comes after the first page", calls: 6, want: []string{"c1", "c2", "c3", "c4", "c5", "c6", "new"}, complete: true, requests: 6,
			plan: first(0, upstreamtest.Fault{Then: func(s *upstreamtest.Server) { s.Ask(upstreamtest.Call{CallID: "new", Fn: "Bash"}) }}),
		},
		{what: "a page skips one, once", calls: 6, want: []string{"c1", "c2", "c3", "c4", "c5", "c6"}, complete: true, requests: 6 + 1, plan: first(4, upstreamtest.Fault{Skip: 1})},
		{what: "it never stays the same", calls: 6, complete: false, requests: 6, plan: func(r upstreamtest.Request) upstreamtest.Fault {
			if r.Offset != 0 {
				return upstreamtest.Fault{}
			}
			return upstreamtest.Fault{Then: func(s *upstreamtest.Server) {
				fresh++
				s.Settle(s.Waiting()[0], true, "")
				s.Ask(numbered(fresh, fresh)...)
			}}
		}},
		{what: "it hides that there is more", calls: 6, want: []string{"c1", "c2", "c3", "c4", "c5", "c6"}, requests: 6, plan: always(upstreamtest.Fault{NoMore: true})},
		{what: "it always promises more", calls: 6, want: []string{"c1", "c2", "c3", "c4", "c5", "c6"}, requests: 9, plan: always(upstreamtest.Fault{More: true})},
		{what: "it promises more than one page", calls: 2, want: []string{"c1", "c2"}, requests: 6, plan: always(upstreamtest.Fault{More: true})},
		{what: "an item twice on a page throws the count", calls: 6, complete: false, requests: 6, plan: always(upstreamtest.Fault{Duplicate: true}), want: []string{"c1", "c2", "c3", "c4", "c6"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s, client := pair(t, upstream.Cloud, upstreamtest.Options{PageSize: 4, Plan: c.plan})
			s.Ask(numbered(1, c.calls)...)
			l, err := client.PendingCalls(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(l.Items); c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("listed: %q, want %q", got, c.want)
			}
			if l.Complete != c.complete || l.Complete == (l.Flaw != "") {
				t.Errorf("complete: %t, %q", l.Complete, l.Flaw)
			}
			if n := len(s.Requests()); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}

func TestAListWithoutEndIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	s := upstreamtest.New(t, upstreamtest.Options{Cloud: true, PageSize: 1})
	s.Ask(numbered(1, 100)...)
	c := client(t, upstream.Options{BaseURL: s.URL, Dialect: upstream.Cloud, MaxBody: 400})
	l, err := c.PendingCalls(t.Context())
	if err != nil || l.Complete || len(l.Items) == 0 || len(l.Items) > 20 {
		t.Errorf("%v, complete %t, %d items", err, l.Complete, len(l.Items))
	}
}

// A complete listing lacks nothing that waited all the while, whatever goes wrong
// and however the list changes between its pages.
func TestACompleteListingLacksNothing(t *testing.T) {
	t.Parallel()
	complete, not := 0, 0
	for seed := range uint64(12) {
		rates := upstreamtest.Rates{Skip: 0.08, Duplicate: 0.02, Status500: 0.01, Cut: 0.01, Half: 0.01, Drop: 0.01}
		random, dice := upstreamtest.Random(seed, rates), rand.New(rand.NewPCG(seed, 1))
		asked := 10
		s, client := pair(t, upstream.Cloud, upstreamtest.Options{PageSize: 3, Plan: func(r upstreamtest.Request) upstreamtest.Fault {
			f := random(r)
			if dice.IntN(10) == 0 {
				settled := dice.IntN(3)
				f.Then = func(s *upstreamtest.Server) {
					asked++
					s.Ask(numbered(asked, asked)...)
					if waiting := s.Waiting(); settled < len(waiting) {
						s.Settle(waiting[settled], true, "")
					}
				}
			}
			return f
		}})
		s.Ask(numbered(1, 10)...)
		for range 15 {
			before := s.Waiting()
			l, err := client.PendingCalls(t.Context())
			if err != nil || !l.Complete {
				not++
				continue
			}
			complete++
			listed := ids(l.Items)
			for _, id := range s.Waiting() {
				if slices.Contains(before, id) && !slices.Contains(listed, id) {
					t.Fatalf("seed %d: %s waited all the while and is not among %q", seed, id, listed)
				}
			}
		}
	}
	t.Logf("%d listings were complete, %d were not", complete, not)
	if complete < 15 || not < 15 {
		t.Errorf("%d listings were complete, %d were not: that tells nothing", complete, not)
	}
}
