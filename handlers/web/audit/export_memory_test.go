package audit_test

import (
	"bufio"
	"runtime"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// TestALongExportStaysSmall: what is exported goes through, and does not pile up.
func TestALongExportStaysSmall(t *testing.T) { //nolint:paralleltest // it measures the memory of all
	const rows = 100_000
	w := webtest.New(t)
	storetest.Seed(t, w.Store, w.Agent, storetest.Rows{Settled: rows})
	p := w.SignIn(webtest.OwnerEmail)
	p.HTTP.Timeout = 5 * time.Minute
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := p.HTTP.Get(w.URL + "/history/export?format=jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, bytes, most := 0, 0, uint64(0)
	for in := bufio.NewScanner(resp.Body); in.Scan(); lines++ {
		if bytes += len(in.Bytes()); lines%5000 == 0 {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	if lines != rows {
		t.Errorf("%d lines", lines)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > int64(bytes)/3 || grown > 24<<20 {
		t.Errorf("the heap grew by %d bytes for a file of %d", grown, bytes)
	}
}
