package people_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/people"
)

func TestPeopleAndWhatMayBeDone(t *testing.T) {
	t.Parallel()
	v := people.New(gallery.PeopleInput(), gallery.Now)
	ada, bo, cy := v.Rows[0], v.Rows[1], v.Rows[2]
	if !ada.Self || ada.Roles[0].Value != string(models.RoleReviewer) || len(ada.Roles) != 3 || ada.Sessions != "2" || ada.LastSeen.Text != "20 s ago" {
		t.Errorf("%+v", ada)
	}
	if bo.Roles[0].Value != string(models.RoleAdmin) || bo.HasSessions || !strings.HasSuffix(bo.SwitchURL, "/disable") || !bo.LastSeen.IsZero() {
		t.Errorf("%+v", bo)
	}
	if cy.State.Text != "disabled" || cy.Sessions != "1,000+" || !strings.HasSuffix(cy.SwitchURL, "/enable") {
		t.Errorf("%+v", cy)
	}
	if v.Form.Role != models.RoleReviewer || v.Invites[0].Expires.Text == "" {
		t.Errorf("%+v %+v", v.Form, v.Invites)
	}
	html := pagestest.Draw(t, people.Page(gallery.Frame("", "/people"), v))
	if strings.Count(html, "Disable now") != 2 || strings.Count(html, "Enable again") != 1 || strings.Count(html, `type="password"`) != 1 { // that of the dialog to sign in again
		t.Error("what may be done does not fit who they are")
	}
}
