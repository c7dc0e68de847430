package web

import (
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/models"
	"countersign/models/people"
	"countersign/views/ui"
)

// hostToAllow is the host of an address that was refused, if allowing it mends that and the
// reader may; else empty.
func hostToAllow(c echo.Context, address string, e *models.Error) string {
	if !actorOf(c).Admin || !strings.Contains(e.Fields["url"], models.HostNotAllowed) {
		return ""
	}
	return hostOf(address)
}

// hostOf is the host that an address names, as a list of hosts has it; empty: none could.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := u.Host
	if port := u.Port(); port == "" || port == "443" && u.Scheme == "https" {
		host = u.Hostname()
	}
	folded, err := people.FoldHost(host)
	if err != nil {
		return ""
	}
	return folded
}

// allowNamedHost allows the host of an address, where the sender of the form says so. What
// is wrong with that is said by who refuses the address then.
func (s *Site) allowNamedHost(c echo.Context, address string) error {
	host := c.Request().PostForm.Get(ui.AllowHostField)
	if host == "" || host != hostOf(address) {
		return nil
	}
	err := s.store.People.AllowHost(c.Request().Context(), actorOf(c), host)
	if asError(err, models.CodeInvalid, models.CodeConflict) != nil {
		return nil //nolint:nilerr // the form itself says what is wrong with the address
	}
	return err
}
