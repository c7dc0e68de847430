package pages_test

import (
	"strings"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages"
)

func TestPolicyFormStartsWithWhatHolds(t *testing.T) {
	t.Parallel()
	f := pages.NewPolicy(gallery.PolicyInput(), now).Form
	if !f.ApprovalEnabled || f.RequiredApprovalTools != "Bash\n/^git_/" || f.DefaultTimeoutMinutes != "5" || f.FallbackAutoApprove || f.BaseVersion != 7 {
		t.Errorf("%+v", f)
	}
}

// I11: what would open the gate is said before saving.
func TestPolicyReviewWarnsI11(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Review, in.Changes = true, []pages.PolicyChange{{Path: "approval_enabled", Before: "true", After: "false"}}
	in.Form = &pages.PolicyForm{FallbackAutoApprove: true, DefaultTimeoutMinutes: "5", RequiredApprovalTools: "a\nb", BaseVersion: 7}
	v := pages.NewPolicy(in, now)
	if !v.Review || len(v.Dangers) != 2 {
		t.Fatalf("%+v", v)
	}
	html := draw(t, pages.PolicyPage(gallery.Frame("", "/policy"), v))
	for _, want := range []string{`name="base_version" value="7"`, "name=\"required_approval_tools\" value=\"a\nb\"", `name="fallback_auto_approve" value="true"`, `name="step" value="save"`, `name="note"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(html, `name="approval_enabled"`) {
		t.Error("what was switched off is sent as on")
	}
}

func TestPolicyReviewWithoutChangesOrOfAnOldVersion(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Review, in.Form = true, &pages.PolicyForm{BaseVersion: 6}
	if v := pages.NewPolicy(in, now); v.Review || v.Notice != "Nothing would change." {
		t.Errorf("%+v", v)
	}
	in.Changes, in.Stale = []pages.PolicyChange{{Path: "x"}}, true
	if v := pages.NewPolicy(in, now); v.Review || v.Form.BaseVersion != 7 || !strings.Contains(v.Notice, "nothing of yours was saved") {
		t.Errorf("%+v", v)
	}
}

func TestPolicyErrorsStandAtTheirField(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Form = &pages.PolicyForm{Errors: map[string]string{"required_approval_tools[3]": "missing closing )", "rules[0].name": "is empty"}}
	html := draw(t, pages.PolicyPage(gallery.Frame("", "/policy"), pages.NewPolicy(in, now)))
	for _, want := range []string{`id="required_approval_tools-error"`, "required_approval_tools[3]: missing closing )", "rules[0].name: is empty"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestPolicyReaderCannotSend(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Admin, in.Versions = false, nil
	html := draw(t, pages.PolicyPage(gallery.Frame("", "/policy"), pages.NewPolicy(in, now)))
	if strings.Contains(html, `action="/policy"`) || !strings.Contains(html, "required_approval_tools") || !strings.Contains(html, "Force push") {
		t.Error("a reviewer sees a form, or does not see the fields and rules")
	}
}

func TestPolicyDocumentIsShownAsStored(t *testing.T) {
	t.Parallel()
	v := pages.NewPolicyDocument(gallery.PolicyInput().Versions[0], []byte(`{"default_timeout_minutes":5,"a":1}`), true, now)
	if v.Code.Text != "{\n  \"default_timeout_minutes\": 5,\n  \"a\": 1\n}" || v.Title != "Policy v7" || !v.Current {
		t.Errorf("%+v", v)
	}
}
