package account_test

import (
	"reflect"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/nav"
)

func TestSignInTellsNothingOfAccounts(t *testing.T) {
	t.Parallel()
	unknown := account.NewSignIn("a@example.org", "", models.Errorf(models.CodeUnauthenticated, "no such user"))
	wrong := account.NewSignIn("a@example.org", "", models.Errorf(models.CodeForbidden, "disabled"))
	if !reflect.DeepEqual(unknown, wrong) || unknown.Error == "" || strings.Contains(unknown.Error, "such") {
		t.Errorf("%+v %+v", unknown, wrong)
	}
	for seconds, want := range map[int]string{1: "a minute", 60: "1 minute", 61: "2 minutes", 900: "15 minutes"} {
		if v := account.NewSignIn("", "", &models.Error{Code: models.CodeTooManyRequests, RetryAfterSeconds: seconds}); v.Wait != want || v.Error != "" {
			t.Errorf("%d s: %+v", seconds, v)
		}
	}
}

func TestFormsKeepErrorsAtTheirField(t *testing.T) {
	t.Parallel()
	v := account.FirstAccount("k", "Ada", "ada", models.Invalid("email", "must be an address"))
	if v.Errors["email"] != "must be an address" || v.Name != "Ada" {
		t.Errorf("%+v", v)
	}
	p := account.NewPassword(views.Viewer{}, models.Errorf(models.CodeForbidden, "No."))
	if p.Errors[""] != "No." {
		t.Errorf("%+v", p)
	}
	if v := account.FirstAccount("k", "", "", nil); len(v.Errors) != 0 {
		t.Errorf("a fresh form has errors: %+v", v)
	}
}

func TestFailureSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404, 409, 413, 422, 429, 500, 503} {
		v := nav.NewFailure(status, "", "r1")
		if v.Title == "" || v.Do == "" || v.RequestID != "r1" || v.SignIn {
			t.Errorf("%d: %+v", status, v)
		}
	}
	if v := nav.NewFailure(401, "", ""); !v.SignIn {
		t.Errorf("401 does not lead to the sign-in: %+v", v)
	}
}
