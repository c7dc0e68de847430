package policies_test

import (
	"strings"
	"testing"

	"countersign/models/policy"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/policies"
	"countersign/views/ui"
)

func drawPolicy(t *testing.T, in policies.Input) string {
	t.Helper()
	return pagestest.Draw(t, policies.Page(gallery.Frame("", "/policy"), policies.New(in, gallery.Now)))
}

// Every member of the policy can be written by form, on the page and in the rule's form.
func TestThePolicyFormHasEveryMember(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	html := drawPolicy(t, in)
	in.Section = policies.Settings
	html += drawPolicy(t, in)
	for _, f := range policy.Settings() {
		if !strings.Contains(html, `name="`+f.Path+`"`) {
			t.Errorf("the page has no field for %s", f.Path)
		}
	}
	html = pagestest.Draw(t, policies.RulePage(gallery.Frame("", "/policy"), policies.NewRuleForm(policies.RuleInput{New: true, Form: policy.Form{}})))
	for _, f := range policy.RuleFields() {
		if !strings.Contains(html, `name="`+f.Path+`"`) {
			t.Errorf("the form of a rule has no field for %s", f.Path)
		}
	}
	html = pagestest.Draw(t, policies.TemplatePage(gallery.Frame("", "/policy"), policies.NewTemplateForm(policies.RuleInput{New: true, Form: policy.Form{}}, nil)))
	for _, f := range policy.TemplateFields() {
		if !strings.Contains(html, `name="`+f.Path+`"`) {
			t.Errorf("the form of a template has no field for %s", f.Path)
		}
	}
}

// A rule's row says its checklist.
func TestARuleSaysItsChecklist(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Draft.Rules[0]["checklist"] = "Tests pass\nSomebody is on call"
	if html := drawPolicy(t, in); !strings.Contains(html, "checklist: Tests pass, Somebody is on call") {
		t.Error("the row of the rule does not say it")
	}
}

// I11: what would open the gate is said before saving.
func TestPolicyReviewWarnsI11(t *testing.T) {
	t.Parallel()
	in := gallery.ReviewInput()
	in.After.Unmatched, in.After.RetentionDays = policy.EffectAllow, 30
	if v := policies.NewReview(in); len(v.Dangers) != 4 {
		t.Errorf("%q", v.Dangers)
	}
	in.Before, in.After = in.After, in.Before
	if v := policies.NewReview(in); len(v.Dangers) != 0 {
		t.Errorf("%q", v.Dangers)
	}
}

func TestPolicyErrorsStandAtTheirField(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Section = policies.Settings
	in.Draft.Problems = map[string]string{"required_approval_tools[3]": "missing closing )", "required_approval_tools[10]": "later", "rules[0].name": "is empty", "colour": "is no member"}
	in.Draft.Settings["default_timeout_minutes"] = "soon"
	in.Draft.Problems["default_timeout_minutes"] = "must be a whole number"
	html := drawPolicy(t, in)
	in.Section = policies.Rules
	html += drawPolicy(t, in)
	for _, want := range []string{"3 errors", "2 errors", `id="required_approval_tools-error"`, "Line 4: missing closing )", "name is empty", "colour is no member", `value="soon"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestPolicyReaderCannotSend(t *testing.T) {
	t.Parallel()
	in := gallery.PolicyInput()
	in.Rules, in.Draft, in.Versions, in.Retention = in.Draft.Rules, nil, nil, policies.Retention{}
	html := drawPolicy(t, in)
	in.Section = policies.Settings
	html += drawPolicy(t, in)
	if strings.Contains(html, `action="/policy`) || !strings.Contains(html, "required_approval_tools") || !strings.Contains(html, "Force push") {
		t.Error("a reviewer sees a form, or does not see the fields and rules")
	}
}

func TestPolicyDocumentIsShownAsStored(t *testing.T) {
	t.Parallel()
	in := policies.DocumentInput{Version: gallery.PolicyInput().Versions[0], Document: []byte(`{"default_timeout_minutes":5,"a":1}`), Current: true}
	v := policies.NewDocument(in, gallery.Now)
	if v.Code.Text != "{\n  \"default_timeout_minutes\": 5,\n  \"a\": 1\n}" || v.Title != "Policy v7" || !v.Current || v.Restore != "" {
		t.Errorf("%+v", v)
	}
	long := `{"a":"` + strings.Repeat("x", policy.MaxDocument-10) + `"}`
	in.Document = []byte(long)
	if got := pagestest.Read(t, ui.CodeView(policies.NewDocument(in, gallery.Now).Code)).Find("pre").Text(); len(got) < len(long) {
		t.Errorf("of a policy of %d bytes %d are shown, and it can be had whole nowhere", len(long), len(got))
	}
}
