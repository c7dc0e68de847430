package channels

import (
	"countersign/handlers/web/site"
	"countersign/views"
)

// Screens are the pages that set where, when and how people and groups are notified of pending requests.
type Screens struct {
	*site.Site
	sender Sender
}

// New makes them.
func New(s *site.Site, sender Sender) *Screens { return &Screens{Site: s, sender: sender} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toNotifications, toHosts := site.GoTo(views.NotificationsURL()), site.GoTo(views.SystemNotificationsURL())
	return []site.Route{
		site.Get("/account/notifications", site.Acting, s.notifications),
		site.Post("/account/notifications", site.Acting, s.setNotifications),
		site.Get("/account/notifications/channels", site.Acting, toNotifications),
		site.Post("/account/notifications/channels", site.Acting, InPlace(s.ownChannels, s.Add)),
		site.Post("/account/notifications/channels/:id/verify", site.Acting, InPlace(s.ownChannels, s.Verify)),
		site.Post("/account/notifications/channels/:id/code", site.Acting, InPlace(s.ownChannels, s.Resend)),
		site.Post("/account/notifications/channels/:id/test", site.Acting, InPlace(s.ownChannels, s.Try)),
		site.Post("/account/notifications/channels/:id/remove", site.Acting, InPlace(s.ownChannels, s.Remove)),
		site.Get("/account/notifications/channels/:id/:what", site.Acting, toNotifications),
		site.Get("/system/notifications", site.Overseer, s.systemNotifications),
		site.Get("/system/notifications/hosts", site.Admin, toHosts),
		site.Post("/system/notifications/hosts", site.Admin, s.allowHost),
		site.Get("/system/notifications/hosts/remove", site.Admin, toHosts),
		site.Post("/system/notifications/hosts/remove", site.Admin, s.removeHost),
	}
}
