package pages

import (
	"strconv"

	"countersign/models"
	"countersign/views"
)

// SignIn is the view model of the sign-in form.
type SignIn struct {
	Email string
	Next  string // the path to go on to
	Error string
	Kept  []string // what was written in a form that came after the session had ended
	Wait  string   // set when too many attempts failed: how long to wait, in words
}

// NewSignIn makes the form again after err; nil gives a fresh form. What went
// wrong is said without telling whether the account exists.
func NewSignIn(email, next string, err *models.Error) SignIn {
	v := SignIn{Email: email, Next: next}
	switch {
	case err == nil:
	case err.Code == models.CodeTooManyRequests:
		v.Wait = waitText(err.RetryAfterSeconds)
	default:
		v.Error = "E-mail and password do not match an account that may sign in."
	}
	return v
}

func keptID(n int) string { return "kept-" + strconv.Itoa(n) }

// Setup is the view model of the one-time form that makes the first user.
type Setup struct {
	Key         string
	Name, Email string
	Errors      map[string]string
}

// NewSetup makes the form; err fills in what is wrong, by field.
func NewSetup(key, name, email string, err *models.Error) Setup {
	return Setup{Key: key, Name: name, Email: email, Errors: fieldErrors(err)}
}

// Password is the view model of the password change.
type Password struct {
	Email  string
	Errors map[string]string
}

// NewPassword makes the form; err fills in what is wrong, by field.
func NewPassword(viewer views.Viewer, err *models.Error) Password {
	return Password{Email: viewer.Email, Errors: fieldErrors(err)}
}

// fieldErrors is what is wrong by field; what concerns no field stands under "".
func fieldErrors(err *models.Error) map[string]string {
	if err == nil {
		return nil
	}
	if len(err.Fields) > 0 {
		return err.Fields
	}
	return map[string]string{"": err.Text}
}
