package site

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"countersign/views/pages/account"
)

// typedNames are the fields in which people write; editedName is that of each
// member of an input that is edited.
var typedNames = []string{
	"content", "text", "reason", "answer", "note", "input", "description", "required_approval_tools", "title",
}

var editedName = regexp.MustCompile(`^m[0-9]+$`)

// The fields in which a form is carried through signing in.
const (
	unsentAction = "unsent_action"
	unsentFields = "unsent"
)

// unsent is a form that met an expired session. Where no script runs, the page that
// asks to sign in gives it back, and the page after it sends it on if asked to.
// Passwords are not carried, nor what the form says was confirmed or seen.
func unsent(r *http.Request) *account.Unsent {
	if r.Method != http.MethodPost || strings.HasPrefix(r.URL.Path, "/account/") || r.ParseForm() != nil {
		return nil
	}
	return asUnsent(r.URL.RequestURI(), r.PostForm)
}

// CarriedForm is the unsent form that came along with a sign-in form.
func CarriedForm(r *http.Request) *account.Unsent {
	action := r.PostFormValue(unsentAction)
	fields, err := url.ParseQuery(r.PostFormValue(unsentFields))
	if _, local := localPath(action); !local || err != nil {
		return nil
	}
	return asUnsent(action, fields)
}

func asUnsent(action string, fields url.Values) *account.Unsent {
	form := &account.Unsent{Action: action}
	written := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "confirmed" || name == "seen_end" || strings.Contains(name, "password") {
			continue
		}
		for _, value := range fields[name] {
			f := account.UnsentField{Name: name, Value: strings.ReplaceAll(value, "\r\n", "\n")}
			f.Written = strings.TrimSpace(value) != "" && (slices.Contains(typedNames, name) || editedName.MatchString(name))
			written = written || f.Written
			form.Fields = append(form.Fields, f)
		}
	}
	if !written {
		return nil
	}
	return form
}
