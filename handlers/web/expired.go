package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// session tells a page whose session its browser has: it asks before a form takes
// the page away, with what was typed in it.
func (s *Site) session(c echo.Context) error { return sayWho(c, visitorOf(c).user) }

func sayWho(c echo.Context, user *models.User) error {
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, map[string]models.UserID{"user": user.ID})
}

// typedNames are the fields in which people write sentences, on all forms.
var typedNames = []string{"content", "text", "reason", "answer", "note", "input", "description", "required_approval_tools", "title"}

// typedIn is what a person wrote in a form that met an expired session. Where no
// script runs, the page that asks to sign in gives it back.
func typedIn(r *http.Request) []string {
	if r.Method != http.MethodPost || strings.HasPrefix(r.URL.Path, "/account/") {
		return nil
	}
	var out []string
	for _, name := range typedNames {
		for _, text := range r.PostForm[name] {
			if strings.TrimSpace(text) != "" {
				out = append(out, strings.ReplaceAll(text, "\r\n", "\n"))
			}
		}
	}
	return out
}
