package pages_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
	"countersign/views/pages/nav"
	"countersign/views/pages/pagestest"
)

// A headline is cut where it is made, and counts what it leaves out: lists and the palette do
// not cut it once more, which would hide the count or count wrongly.
func TestListsCutNoHeadlineTwice(t *testing.T) {
	t.Parallel()
	a := models.Approval{Response: models.Response{
		ID: "01890a5d-ac96-774b-bcce-b302099a8401", Kind: models.KindToolCall, ToolName: "Bash", CreatedAt: gallery.Now, RequiresApproval: true, ApprovalStatus: new(models.StatusPending), ApprovalTimeoutAt: models.NoDeadline,
		ToolInputJSON: `{"command":"echo ` + strings.Repeat("a", 5800) + ` the-end"}`,
	}, AgentName: "bot"}
	h := headline.Of(&a.Response)
	a.HeadlineJSON = h.Stored()
	if !strings.Contains(h.Text(), " … 5,613 characters … ") {
		t.Fatalf("%s", h.Text())
	}
	found := nav.NewGo(nav.GoInput{Text: "echo", Requests: []models.Brief{{Approval: a}}})
	if i := slices.IndexFunc(found.Groups, func(g nav.GoGroup) bool { return g.ID == "go-requests" }); found.Groups[i].Rows[0].Headline != h.Text() {
		t.Errorf("the palette says %+v", found.Groups[i].Rows[0])
	}
	several := inbox.NewBulk(inbox.BulkInput{Verdict: models.VerdictApprove, Ask: true, Items: []inbox.BulkItem{{ID: a.ID, Approval: &a, LeftOut: []string{"It is long."}}}}, gallery.Now)
	html := pagestest.Draw(t, inbox.BulkDetail(several))
	label := regexp.MustCompile(`(?s)Show all.*?<span class="sr-only">([^<]*)<`).FindStringSubmatch(html)
	if label == nil {
		t.Fatalf("it has no label: %s", html)
	}
	cut := regexp.MustCompile(`^Run: (.*) … ([\d,]+) characters … (.* the-end)$`).FindStringSubmatch(label[1])
	if cut == nil {
		t.Fatalf("its label is %q", label[1])
	}
	if left := 5800 + len("echo  the-end") - len(cut[1]) - len(cut[3]); cut[2] != models.Number(int64(left)) {
		t.Errorf("its label leaves out %d: %q", left, label[1])
	}
}
