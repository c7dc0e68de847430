package webtest

import (
	"net/url"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// AwayWorld is a world whose requests all go to Ann; Eve is to act for her.
func AwayWorld(t *testing.T) (w *World, ann, eve models.Actor) {
	t.Helper()
	w = New(t)
	ann, eve = storetest.Reviewer(t, w.Store, "ann@example.com"), storetest.Reviewer(t, w.Store, "eve@example.com")
	w.ApplyPolicy(`{"approval_enabled":true,"rules":[{"name":"all","tools":["/.*/"],"effect":"require","reviewers":["ann@example.com"],"reviewers_only":true,"timeout_minutes":600}]}`)
	return w, ann, eve
}

// Office is a world in which finance approves payments, and Eve may act for finance.
type Office struct {
	*World

	Finance, Eve models.Actor
	Accepted     models.SubstituteID
}

// NewOffice makes one; rule are more members of its only rule.
func NewOffice(t *testing.T, rule string) *Office {
	t.Helper()
	o := &Office{World: New(t)}
	o.Finance, o.Eve = storetest.Reviewer(t, o.Store, "finance@example.com"), storetest.Reviewer(t, o.Store,
		"eve@example.com")
	o.ApplyPolicy(`{"templates":[{"name":"careful","checklist":["Looked at it"]}],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","risk":"medium","timeout_minutes":60,"reviewers":["finance@example.com"],"reviewers_only":true` + rule + `}]}`)
	sub, err := o.Store.AskSubstitute(t.Context(), o.Finance, o.Finance.UserID(), o.Eve.UserID())
	storetest.Must(t, err)
	storetest.Must(t, o.Store.AcceptSubstitute(t.Context(), o.Admin, sub.ID))
	o.Accepted = sub.ID
	return o
}

// HandsOver has finance hand a request over to Eve.
func (o *Office) HandsOver(t *testing.T, id models.ResponseID, note string) *models.HandOver {
	t.Helper()
	h, err := o.Store.HandOver(t.Context(), o.Finance, id, o.Eve.UserID(), note)
	storetest.Must(t, err)
	return h
}

// Pending fails unless nothing was decided.
func (o *Office) Pending(t *testing.T, id models.ResponseID) {
	t.Helper()
	if a := o.Approval(id); a.Status() != models.StatusPending || a.Vote != nil {
		t.Fatalf("it is %s by %+v", a.Status(), a.Vote)
	}
}

// AdminEmail is the address of the admin of every world.
const AdminEmail = storetest.AdminEmail

// PersonPath is where the admin changes somebody.
func PersonPath(who models.Actor, what string) string { return "/people/" + who.ID + "/" + what }

// Credentials are what the sign-in form sends.
func Credentials(email, password string) url.Values {
	return url.Values{"email": {email}, "password": {password}}
}

// StagedPays has two of finance sign a payment, then one of oncall.
const StagedPays = `{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require",
 "approvals":[{"from":["group:finance"],"count":2},{"from":["group:oncall"],"count":1}],"stages":true}]}`

// SignersWorld has ann, bo and cy in finance, and cy and dee in oncall, who sign payments by StagedPays.
func SignersWorld(t *testing.T) *World {
	t.Helper()
	w := New(t)
	admin := storetest.Operator()
	for _, group := range []string{"finance", "oncall"} {
		storetest.Must(t, w.Store.People.AddGroup(t.Context(), admin, group, ""))
	}
	for email, groups := range map[string][]string{"ann@example.com": {"finance"}, "bo@example.com": {"finance"}, "cy@example.com": {"finance", "oncall"}, "dee@example.com": {"oncall"}} {
		storetest.Reviewer(t, w.Store, email)
		for _, group := range groups {
			storetest.Must(t, w.Store.People.JoinGroup(t.Context(), admin, group, email))
		}
	}
	w.ApplyPolicy(StagedPays)
	return w
}
