package conversations_test

import (
	"strings"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages/conversations"
	"countersign/views/pages/pagestest"
)

func TestABatchIsOneBlockWhereItsFirstCallStands(t *testing.T) {
	t.Parallel()
	in := gallery.Cascaded()
	v := conversations.New(in, gallery.Now)
	if len(v.Entries) != 2 || v.Entries[1].Batch == nil {
		t.Fatalf("%d entries", len(v.Entries))
	}
	b := v.Entries[1].Batch
	var got []string
	for _, s := range b.Segments {
		for _, c := range s.Calls {
			got = append(got, c.Number+" "+c.Pill.Text)
		}
	}
	want := "#1 done, #2 done, #3 done, #4 done, #5 done, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	if b.Title != "10 calls queued together" || b.Tally != "5 of 10 done" || b.Segments[0].Fold != "5 done, #1 to #5" {
		t.Errorf("%q %q %q", b.Title, b.Tally, b.Segments[0].Fold)
	}
	if d := b.Segments[0].Calls[1].Duration; d != "20 s" {
		t.Errorf("the second took %q, which began when the first had ended", d)
	}
	waits := conversations.New(gallery.WorkedCase(nil), gallery.Now).Entries[1].Batch
	html := pagestest.Draw(t, conversations.BatchBlock(*waits))
	if strings.Count(html, `aria-current="step"`) != 1 || strings.Count(html, `value="approve"`) != 1 {
		t.Error("not exactly one call waits")
	}
	if !strings.Contains(waits.Tally, "1 waiting for approval") {
		t.Error(waits.Tally)
	}
}

func TestWhatCameToABatchOnThePageIsNoNewBlock(t *testing.T) {
	t.Parallel()
	in := gallery.WorkedCase(nil)
	calls := in.Around.Run.Calls
	if got := conversations.WithoutKnownBatches(in.History.Entries, calls); len(got) != 11 {
		t.Errorf("%d of a whole batch are left", len(got))
	}
	if got := conversations.WithoutKnownBatches(in.History.Entries[3:], calls); len(got) != 0 {
		t.Errorf("%d are left of a batch that stands", len(got))
	}
	mixed := append(in.History.Entries[5:7:7], in.History.Entries[0])
	if got := conversations.WithoutKnownBatches(mixed, calls); len(got) != 1 || got[0].Message == nil {
		t.Errorf("what else came is lost: %d", len(got))
	}
}
