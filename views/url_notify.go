package views

import (
	"net/url"

	"countersign/models"
)

// NotificationsURL shows where and when the reader hears of pending requests, and takes the POST that sets when.
func NotificationsURL() string { return "/account/notifications" }

// ChannelsURL takes the POST that adds one of the reader's channels.
func ChannelsURL() string { return NotificationsURL() + "/channels" }

// ChannelURL takes POSTs about one of the reader's channels; what names the act: verify, code, test or remove.
func ChannelURL(id models.ChannelID, what string) string {
	return ChannelsURL() + "/" + url.PathEscape(string(id)) + "/" + what
}

// GroupChannelsURL takes the POST that adds a channel of a group.
func GroupChannelsURL(name string) string { return GroupURL(name) + "/channels" }

// GroupChannelURL is ChannelURL for a channel of a group.
func GroupChannelURL(name string, id models.ChannelID, what string) string {
	return GroupChannelsURL(name) + "/" + url.PathEscape(string(id)) + "/" + what
}

// SystemNotificationsURL shows admins how messages go out, and what fails.
func SystemNotificationsURL() string { return SystemURL() + "/notifications" }

// NotificationHostsURL takes the POST that allows a host.
func NotificationHostsURL() string { return SystemNotificationsURL() + "/hosts" }

// RemoveNotificationHostURL takes the POST that no longer allows a host, which it names.
func RemoveNotificationHostURL() string { return NotificationHostsURL() + "/remove" }
