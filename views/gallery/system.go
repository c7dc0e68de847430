package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/system"
)

func systemStates() []State {
	page := func(name, note string, in system.Input) State {
		return State{
			Page: "system", Name: name, Note: note, Component: system.Page(Frame("System", "/system"), system.New(in, Now)),
		}
	}
	bad, withUpstreams := SystemInput(), SystemInput()
	bad.Fault, bad.GateOff, bad.FallbackOn = "Not ready: the database cannot be written.", true, true
	bad.State.AdminOnly, bad.State.StrandedMore = []models.PendingRef{
		*bad.State.Oldest,
		{
			ID: "01890a5d-ac96-774b-bcce-b302099a8058", Kind: models.KindQuestion, AgentName: "<b>\u202E", OwnerName: "Gone",
			AskedAt: Now, Deadline: models.NoDeadline,
		},
	}, true
	bad.Notifications = models.NotificationBacklog{
		Unsent: 40, Oldest: Now.Add(-7 * time.Minute), Failures: make([]models.FailingChannel, 2),
	}
	bad.Webhooks = WebhookStates()
	withUpstreams.Upstreams, withUpstreams.State.Nodes = UpstreamStates(), nil
	return []State{
		page(Usual, "All is well", SystemInput()),
		page("bad", "Not ready, open gate, requests that nobody can decide", bad),
		page("empty", "Just started", system.Input{Start: Now}),
		page("upstreams", "With upstreams, some failing", withUpstreams),
	}
}

// SystemInput is a server that is well.
func SystemInput() system.Input {
	return system.Input{
		Version: "1.4.0", Go: "go1.26", Start: Now.Add(-26 * time.Hour), Streams: 9,
		State: models.SystemState{
			Database: "SQLite 3.50.4", Schema: 4,
			Nodes: []models.Node{
				{
					Name: "desk-1", Version: "1.4.0", StartedAt: Now.Add(-26 * time.Hour), SeenAt: Now.Add(-2 * time.Second), LagMS: 4,
					Leases: []string{"deliver", "notify", "poll", "webhooks"},
				},
				{Name: "desk-2", Version: "1.4.0", StartedAt: Now.Add(-3 * time.Hour), SeenAt: Now.Add(-40 * time.Second), LagMS: 11},
			},
			DatabaseBytes: 48 << 20, FreeBytes: 3 << 20, LogBytes: 4 << 20,
			Entries: 120_000, Day: 4200, Week: 31_000, Responses: 51_204, People: 12, Agents: 31, Conversations: models.StatsCap,
			Pending: 7, Waiters: 5,
			Oldest: &models.PendingRef{
				ID: "01890a5d-ac96-774b-bcce-b302099a8057", ToolName: "Bash", Kind: models.KindToolCall, AgentName: "release-bot",
				OwnerName: "Ada Berg", AskedAt: Now.Add(-4 * time.Minute), Deadline: Now.Add(time.Minute),
			},
		},
	}
}
