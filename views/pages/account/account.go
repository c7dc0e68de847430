package account

import (
	"net/url"
	"strconv"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
)

// SignIn is the view model of the sign-in form.
type SignIn struct {
	Email string
	Next  string // the path to go on to
	Error string
	Wait  string // set when too many attempts failed: how long to wait, in words

	Unsent *Unsent // the form that came after the session had ended
}

// NewSignIn makes the form again after err; nil gives a fresh form. What went
// wrong is said without telling whether the account exists.
func NewSignIn(email, next string, err *models.Error) SignIn {
	v := SignIn{Email: email, Next: next}
	switch {
	case err == nil:
	case err.Code == models.CodeTooManyRequests:
		v.Wait = words.WaitText(err.RetryAfterSeconds)
	default:
		v.Error = "The e-mail or the password is wrong, or the account is disabled."
	}
	return v
}

// Unsent is a form that came after its session had ended. It is carried through
// signing in, and shown again to be sent or left.
type Unsent struct {
	Action string // where it was sent to
	Fields []UnsentField
}

// UnsentField is one field of it.
type UnsentField struct {
	Name, Value string
	Written     bool // a person wrote it, so it is shown
}

// Encoded is all fields in one.
func (u *Unsent) Encoded() string {
	values := url.Values{}
	for _, f := range u.Fields {
		values.Add(f.Name, f.Value)
	}
	return values.Encode()
}

func unsentID(n int) string { return "unsent-" + strconv.Itoa(n) }

// NewAccount is the view model of the form that a one-time link opens.
type NewAccount struct {
	Title, Action    string
	Key, Name, Email string
	FromInvite       bool   // the e-mail is that of the invitation
	Role             string // of who was invited
	Errors           map[string]string
}

// FirstAccount is the form of the first admin; err fills in the errors, by field.
func FirstAccount(key, name, email string, err *models.Error) NewAccount {
	return NewAccount{
		Title: "Set up Countersign", Action: views.SetupURL(""), Key: key, Name: name, Email: email, Errors: fieldErrors(err),
	}
}

// InvitedAccount is that of an invited person.
func InvitedAccount(key string, invite models.Invite, name string, err *models.Error) NewAccount {
	return NewAccount{
		Title: "Join Countersign", Action: views.JoinURL(""), Key: key, Name: name, Email: invite.Email, FromInvite: true,
		Role: string(invite.Role), Errors: fieldErrors(err),
	}
}

// Problems are the errors that belong to no field of the form.
func (v NewAccount) Problems() []string {
	out := []string{v.Errors[""], v.Errors["key"]}
	if v.FromInvite {
		out = append(out, v.Errors["email"])
	}
	return out
}

// Password is the view model of the password change.
type Password struct {
	Email  string
	Errors map[string]string
	Tokens int  // live ones of the reader and their agents
	Revoke bool // they are to be revoked too
}

// RevokeField has tokens revoked with the change of a password.
const RevokeField = "revoke_tokens"

func (v Password) revokes() string {
	if v.Tokens == 1 {
		return "Revoke my token too"
	}
	return "Revoke my " + views.Number(int64(v.Tokens)) + " tokens too"
}

// NewPassword makes the form; err fills in the errors, by field.
func NewPassword(viewer views.Viewer, err *models.Error) Password {
	return Password{Email: viewer.Email, Errors: fieldErrors(err)}
}

// fieldErrors are the errors by field; one that concerns no field is under "".
func fieldErrors(err *models.Error) map[string]string {
	if err == nil {
		return nil
	}
	if len(err.Fields) > 0 {
		return err.Fields
	}
	return map[string]string{"": err.Text}
}
