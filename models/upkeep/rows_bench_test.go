package upkeep_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// BenchmarkVerifyRows compares a million requests, each with its vote and two
// entries, or as many as BENCH_ROWS says, with the ledger. It tells seconds and
// the memory that the check has taken at its end.
func BenchmarkVerifyRows(b *testing.B) {
	n := 1_000_000
	if s := os.Getenv("BENCH_ROWS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	s := storetest.New(b)
	owner := storetest.Reviewer(b, s, "owner@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	storetest.SeedLedger(b, s, agent, owner, n)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begun := time.Now()
		found, err := upkeep.New(s).VerifyRows(b.Context(), nil)
		if err != nil || found.Found > 0 {
			b.Fatalf("%v, %d found: %+v", err, found.Found, found.Faults[:min(3, len(found.Faults))])
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(time.Since(begun).Seconds(), "s/"+fmt.Sprint(n))
		b.ReportMetric(float64(after.HeapInuse)/(1<<20), "MiB-heap")
	}
}
