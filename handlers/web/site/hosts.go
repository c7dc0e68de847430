package site

import (
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/models"
	"countersign/models/people"
	"countersign/views/ui"
)

// HostToAllow is the host of an address that was refused, if allowing it mends that and the
// reader may; else empty.
func HostToAllow(c echo.Context, address string, e *models.Error) string {
	if !ActorOf(c).Admin || !strings.Contains(e.Fields["url"], models.HostNotAllowed) {
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
	fold, err := people.FoldHost(host)
	if err != nil {
		return ""
	}
	return fold
}

// BarredHost is the host of an address if no admin has allowed it; empty: one has, or none could.
func BarredHost(allowed []models.NotificationHost, address string) string {
	host := hostOf(address)
	if slices.ContainsFunc(allowed, func(h models.NotificationHost) bool {
		return h.Host == host || h.Host == host+":443" || h.Host == host+":80"
	}) {
		return ""
	}
	return host
}

// BarredChannels are the hosts of channels that no admin has allowed.
func BarredChannels(allowed []models.NotificationHost, all []models.Channel) map[models.ChannelID]string {
	out := map[models.ChannelID]string{}
	for i := range all {
		if host := all[i].Host(); host != "" {
			out[all[i].ID] = BarredHost(allowed, "https://"+host)
		}
	}
	return out
}

// AllowNamedHost allows the host of an address if the sender ticked that. It reports no error in the host: the check
// of the address does.
func (s *Site) AllowNamedHost(c echo.Context, address string) error {
	host := c.Request().PostForm.Get(ui.AllowHostField)
	if host == "" || host != hostOf(address) {
		return nil
	}
	err := s.Store.People.AllowHost(c.Request().Context(), ActorOf(c), host)
	if AsError(err, models.CodeInvalid, models.CodeConflict) != nil {
		return nil //nolint:nilerr // the form itself says what is wrong with the address
	}
	return err
}
