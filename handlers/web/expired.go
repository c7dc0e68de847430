package web

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views/pages/account"
)

// session tells a page whose session its browser has: it asks before a form takes
// the page away, with what was typed in it.
func (s *Site) session(c echo.Context) error { return sayWho(c, visitorOf(c).user) }

func sayWho(c echo.Context, user *models.User) error {
	c.Response().Header().Set(echo.HeaderCacheControl, handlers.CacheControl(c.Request()))
	return c.JSON(http.StatusOK, map[string]models.UserID{"user": user.ID})
}

// typedNames are the fields in which people write; editedName is that of each
// member of an input that is edited.
var typedNames = []string{"content", "text", "reason", "answer", "note", "input", "description", "required_approval_tools", "title"}

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

// carriedForm is the unsent form that came along with a sign-in form.
func carriedForm(r *http.Request) *account.Unsent {
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

// unsentPage is where somebody comes whose form was carried through signing in.
func (s *Site) unsentPage(c echo.Context, user *models.User, form *account.Unsent, next string) error {
	frame, err := s.frame(c, "Not sent yet", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return handlers.Render(c, http.StatusOK, account.UnsentPage(frame, user.Name, *form, next), nil)
}
