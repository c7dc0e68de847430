package words

import (
	"strconv"

	"countersign/models"
)

// ChannelName is what people call a kind of channel.
func ChannelName(kind models.ChannelKind) string {
	switch kind {
	case models.ChannelEmail:
		return "E-mail"
	case models.ChannelWebPush:
		return "Browser"
	case models.ChannelNtfy:
		return "ntfy"
	case models.ChannelSlack:
		return "Slack"
	case models.ChannelWebhook:
		return "Webhook"
	}
	return string(kind)
}

// MailText says how an attempt to send an e-mail ended, which is up to the one mail server.
func MailText(class models.SendClass, status int) string {
	switch class {
	case models.SendConnect:
		return "No connection to the mail server."
	case models.SendTimeout:
		return "The mail server did not answer in time."
	case models.SendNameNotFound:
		return "The mail server's name was not found."
	case models.SendCertificate:
		return "The mail server's certificate is not valid."
	case models.SendSent, models.SendRefusedHost, models.SendRedirect, models.SendTooLarge, models.SendRejected,
		models.SendUnavailable, models.SendGone, models.SendNotConfigured:
	}
	return SendText(class, status)
}

// SendText says how an attempt to send a message ended.
func SendText(class models.SendClass, status int) string {
	code := ""
	if status != 0 {
		code = " (" + strconv.Itoa(status) + ")"
	}
	switch class {
	case models.SendSent:
		return "It was sent."
	case models.SendRefusedHost:
		return "The host, or the address behind its name, is not allowed."
	case models.SendNameNotFound:
		return "The host's name was not found."
	case models.SendConnect:
		return "No connection to the host."
	case models.SendCertificate:
		return "The host's certificate is not valid."
	case models.SendTimeout:
		return "No answer in time."
	case models.SendRedirect:
		return "The service redirects" + code + ", and redirects are not followed."
	case models.SendTooLarge:
		return "The answer was too large."
	case models.SendRejected:
		return "The service refused the message" + code + "."
	case models.SendUnavailable:
		return "The service is not available" + code + "."
	case models.SendGone:
		return "The service says that this address no longer exists" + code + "."
	case models.SendNotConfigured:
		return "This server is not set up for this kind of channel."
	}
	return ""
}
