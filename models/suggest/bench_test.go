package suggest_test

import (
	"fmt"
	"testing"

	"countersign/models/suggest"
)

// BenchmarkFind reads 10,000 calls of four tools, as the page of suggested rules does.
func BenchmarkFind(b *testing.B) {
	h := &history{t: b}
	for i := range 2500 {
		h.put("planner", "Read", fmt.Sprintf(`{"file_path":"/srv/app/d%d/f%d.go"}`, i%40, i), suggest.Outcome(1+i/2499))
		h.put("planner", "Bash", fmt.Sprintf(`{"command":"cat /srv/app/f%d","description":"Look"}`, i), suggest.Approved)
		h.put("buyer", "pay", fmt.Sprintf(`{"amount":%d.5,"to":"shop %d"}`, i, i%50), suggest.Approved)
		h.put("buyer", "WebFetch", fmt.Sprintf(`{"url":"https://docs.example.com/a/p%d"}`, i), suggest.Approved)
	}
	p := policyOf(b, tool("all", "/.*/"))
	for b.Loop() {
		if found := suggest.Find(p, h.calls, nil); len(found) == 0 {
			b.Fatal("nothing is suggested")
		}
	}
}
