package text_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/notify/text"
)

// request is a notice about a request, of a kind.
func request(kind models.NoticeKind) models.Notice {
	return models.Notice{
		ID: "0198f0aa-0000-7000-8000-000000000001", Kind: kind, Request: "0198f0aa-0000-7000-8000-000000000002",
		Agent: "deploy-bot", Tool: "shell_exec", Risk: models.RiskHigh,
		Deadline: time.Date(2026, 11, 23, 21, 5, 0, 0, time.UTC), Left: 29*time.Minute + 58*time.Second,
		Deciders: []string{"Ann", "Ben"}, MoreDeciders: 3,
		URL: "https://sign.example.com/approvals/2", SettingsURL: "https://sign.example.com/account/notifications",
	}
}

// What people read, for each kind.
func TestMessages(t *testing.T) {
	t.Parallel()
	const about = `
Agent: deploy-bot
Tool: shell_exec
Risk: high
Expires: in 29 minutes (2026-11-23 21:05 UTC)
Who may decide: Ann, Ben and 3 more
`
	const links = `
Open the request:
https://sign.example.com/approvals/2

Notification settings:
https://sign.example.com/account/notifications
`
	settled := request(models.NoticeSettled)
	settled.Outcome, settled.By = "approved", "Ann"
	glass := models.Notice{Kind: models.NoticeBreakGlass, Request: settled.Request, Agent: settled.Agent, Tool: settled.Tool, Risk: settled.Risk, By: "Ann", Outcome: "approved", Count: 2, URL: settled.URL, SettingsURL: settled.SettingsURL}
	for _, tt := range []struct {
		notice         models.Notice
		subject, plain string
	}{
		{request(models.NoticeWaiting), "High-risk request from deploy-bot: shell_exec", "A request needs a decision.\n" + about + links},
		{request(models.NoticeUnseen), "High-risk request from deploy-bot: shell_exec", "A request needs a decision, and nobody has looked at it yet.\n" + about + links},
		{request(models.NoticeHalf), "High-risk request from deploy-bot: shell_exec", "Half of the time to decide this request is over.\n" + about + links},
		{request(models.NoticeTenth), "High-risk request from deploy-bot: shell_exec", "This request expires soon.\n" + about + links},
		{request(models.NoticeBreakthrough), "High-risk request from deploy-bot: shell_exec", "This request can't wait until your quiet hours are over.\n" + about + links},
		{request(models.NoticeTooFew), "High-risk request from deploy-bot: shell_exec", "Not enough people are left who could sign this request. Add people to the groups that its rule names, or let them sign in again; otherwise it expires.\n" + about + links},
		{glass, "High-risk request from deploy-bot: shell_exec", "Ann broke glass: they approved this alone, without the signatures of 2 other people. Look at what was decided, and acknowledge it on the Audit page.\n\nAgent: deploy-bot\nTool: shell_exec\nRisk: high\n" + links},
		{settled, "High-risk request from deploy-bot: shell_exec", "Settled: approved by Ann.\n\nAgent: deploy-bot\nTool: shell_exec\nRisk: high\n" + links},
		{models.Notice{Kind: models.NoticeBurst, Count: 500, First: 4*time.Minute + time.Second}, "500 requests need a decision", "500 requests need a decision. The first expires in 4 minutes.\n"},
		{models.Notice{Kind: models.NoticeBurst, Count: 97, First: time.Millisecond, Risk: models.RiskCritical}, "97 requests need a decision, up to critical risk", "97 requests need a decision, up to critical risk. The first expires within a minute.\n"},
		{models.Notice{Kind: models.NoticeFlood, Agent: "deploy-bot", Count: 61, URL: "https://sign.example.com/"}, "Too many requests from deploy-bot", "deploy-bot asks for more than people can look at: 61 requests need a decision. The inbox shows them in one line, with what differs from the rest. You can stop the agent there.\n\nOpen the inbox:\nhttps://sign.example.com/\n"},
		{models.Notice{Kind: models.NoticeDigest, Count: 1, URL: "https://sign.example.com/"}, "1 request needs a decision", "1 request needs a decision.\n\nOpen the inbox:\nhttps://sign.example.com/\n"},
		{models.Notice{Kind: models.NoticeWebhookPaused, Webhook: "Deploys", WebhookHost: "https://hooks.example.com", Class: models.SendTimeout}, "A webhook was paused: Deploys", "This webhook has refused an event for a day. Nothing is sent to it until an admin resumes it.\n\nWebhook: Deploys\nHost: https\u200c:\u200c\u200c/\u200c\u200c/\u200chooks\u200c.\u200cexample\u200c.\u200ccom\nLast answer: timeout\n"},
		{models.Notice{Kind: models.NoticeChannelFailing, Channel: "my phone"}, "A notification channel is failing", "Messages to this channel don't arrive. Check it in your notification settings.\n\nChannel: my phone\n"},
		{models.Notice{Kind: models.NoticeInvite, By: "Ada", Left: 7 * 24 * time.Hour}, "Your invitation to Countersign", "Ada invites you to Countersign, where people approve what AI agents do. The link below works once, for 7 days. Give it to nobody else. If you didn't expect it, ignore this message.\n"},
		{models.Notice{Kind: models.NoticeCode, Code: "012345"}, "Your Countersign code: 012345", "Enter this code in Countersign to get notifications here: 012345. It works for 15 minutes. If you didn't ask for it, ignore this message.\n"},
		{models.Notice{Kind: models.NoticeLedgerHead, Head: "22:0aecb4", HeadAt: time.Date(2026, 11, 26, 8, 30, 5, 0, time.UTC)}, "Ledger head of 2026-11-26", "Keep this message: it shows later whether the ledger still has the same entries. To check, run the command below where Countersign runs.\n\nLast entry: 22\nHash: 0aecb4\nTime: 2026-11-26 08:30:05 UTC\nCheck: countersign audit verify --head 22:0aecb4\n"},
		{models.Notice{Kind: models.NoticeTest}, "Test message from Countersign", "This channel works. Nothing needs to be done.\n"},
	} {
		m := text.Unlinked(tt.notice)
		if m.Subject != tt.subject {
			t.Errorf("%s: subject %q, want %q", tt.notice.Kind, m.Subject, tt.subject)
		}
		if got := m.Plain(); got != tt.plain {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.notice.Kind, got, tt.plain)
		}
	}
}

// All kinds have their words.
func TestEveryKindIsTold(t *testing.T) {
	t.Parallel()
	unknown := text.Shown(models.Notice{Kind: "unknown"})
	for _, kind := range models.NoticeKinds() {
		if m := text.Shown(models.Notice{Kind: kind}); m.Lead == unknown.Lead || m.Subject == "" {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}

// The headline is there only where the notice brings it, and nothing is told of a time that
// there is not.
func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	n := request(models.NoticeWaiting)
	if plain := text.Shown(n).Plain(); strings.Contains(plain, "Headline") {
		t.Error(plain)
	}
	n.Headline = "Delete 3 files"
	if plain := text.Shown(n).Plain(); !strings.Contains(plain, "Headline: Delete 3 files\n") {
		t.Error(plain)
	}
	n.Deadline, n.Left, n.Tool, n.Deciders = models.NoDeadline, 0, "", nil
	plain := text.Shown(n).Plain()
	for _, absent := range []string{"Expires", "Tool", "Who may", "9999"} {
		if strings.Contains(plain, absent) {
			t.Errorf("%q in\n%s", absent, plain)
		}
	}
}
