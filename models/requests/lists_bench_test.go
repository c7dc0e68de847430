package requests_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// BenchmarkLists reads every list where a hundred requests wait and more and more are
// settled, up to BENCH_LISTS, and prints what a page of each takes. A list whose last
// column is far above 1 is not flat. `make bench-lists` runs it.
func BenchmarkLists(b *testing.B) {
	most, err := strconv.Atoi(os.Getenv("BENCH_LISTS"))
	if err != nil {
		b.Skip("make bench-lists")
	}
	var sizes []int
	for n := 10_000; n < most; n *= 10 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, most)
	took := make([]map[string]time.Duration, len(sizes))
	for i, n := range sizes {
		took[i] = listsOf(b, n)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-32s", "µs a page, of requests")
	for _, n := range sizes {
		fmt.Fprintf(&table, "%12d", n)
	}
	table.WriteString("  last/first\n")
	var names []string
	for name := range took[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&table, "%-32s", name)
		for i := range sizes {
			fmt.Fprintf(&table, "%12.0f", float64(took[i][name].Nanoseconds())/1000)
		}
		fmt.Fprintf(&table, "%12.2f\n", float64(took[len(sizes)-1][name])/float64(took[0][name]))
	}
	fmt.Fprintln(os.Stdout, table.String()) // of a log go test would show ten lines
}

// listsOf are the times that lists take of n settled requests.
func listsOf(b *testing.B, n int) map[string]time.Duration {
	b.Helper()
	ctx := b.Context()
	s := storetest.New(b, storetest.NoLimits)
	defer func() { storetest.Must(b, s.Close()) }()
	admin, owner := storetest.Admin(b, s), storetest.Reviewer(b, s, "ada@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	begin := time.Now()
	storetest.SeedLedger(b, s, agent, owner, n)
	b.Logf("%d requests were made in %s", n, time.Since(begin).Round(time.Second))
	var last *models.Approval
	for i := range 100 {
		var err error
		last, err = s.Ask(ctx, agent, models.AskInput{ToolName: "Bash", Explicit: true, Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		storetest.Must(b, err)
	}
	out := map[string]time.Duration{}
	measure := func(name string, read func(context.Context) error) {
		b.Helper()
		var all []time.Duration
		for range 60 {
			start := time.Now()
			storetest.Must(b, read(ctx))
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		out[name] = all[len(all)/2]
	}
	storetest.EachList(b, s, admin, owner, agent, last, measure)
	return out
}
