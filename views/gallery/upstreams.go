package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/system"
)

func upstreamsStates() []State {
	page := func(name, note string, in system.UpstreamsInput) State {
		return State{
			Page: "upstreams", Name: name, Note: note,
			Component: system.UpstreamsPage(Frame("Upstreams", "/system"), system.NewUpstreams(in, Now)),
		}
	}
	return []State{
		page(Usual, "In every state there is, one with a hostile name",
			system.UpstreamsInput{Upstreams: UpstreamStates(), Form: system.UpstreamForm{Owner: "ada@example.org"}}),
		page("none", "What will come here, and how",
			system.UpstreamsInput{Form: system.UpstreamForm{Owner: "ada@example.org"}}),
		page("refused", "None yet; what was sent cannot be used", system.UpstreamsInput{Problem: "Nothing was changed: key: must hold visible ASCII characters only.", Form: system.UpstreamForm{
			Name: "<b>calls", BaseURL: "http://169.254.169.254", Dialect: "cloud", Owner: "nobody@example.org",
			Errors: map[string]string{"base_url": "is a link-local address, and such addresses are refused; if it is meant, start the server with --upstream-allow 169.254.169.254 (COUNTERSIGN_UPSTREAM_ALLOW)", "owner": "must be the e-mail of a person on this server", "key": "must hold visible ASCII characters only"},
		}}),
	}
}

// UpstreamStates are upstreams in every state that there is.
func UpstreamStates() []models.UpstreamState {
	at := func(ago time.Duration) *time.Time { return new(Now.Add(-ago)) }
	state := func(n string, mend func(*models.UpstreamState)) models.UpstreamState {
		u := models.UpstreamState{OwnerName: "Ada Berg", Upstream: models.Upstream{
			ID: models.UpstreamID("01890a5d-ac96-774b-bcce-b302099a870" + n), Name: "calls-" + n,
			BaseURL: "https://approvals.example.com/v" + n, Dialect: "plain",
			NextPollAt: Now.Add(4 * time.Second), PolledAt: at(time.Second), SucceededAt: at(time.Second),
		}}
		mend(&u)
		return u
	}
	return []models.UpstreamState{
		state("1", func(u *models.UpstreamState) { u.Waiting = 3 }),
		state("2", func(u *models.UpstreamState) {
			u.Name, u.BaseURL, u.OwnerName = "<b>fail\u202Eing", "https://"+strings.Repeat("long",
				80)+".example", "Bo\u202E Lind"
			u.Failures, u.Problem, u.SucceededAt, u.NextPollAt = 4, "The upstream did not answer within 30 seconds.", at(6*time.Minute), Now.Add(70*time.Second)
			u.Waiting, u.Unsent, u.UnsentSince, u.UnsentProblem = models.StatsCap, 2, at(5*time.Minute), "The upstream failed (503)."
		}),
		state("3", func(u *models.UpstreamState) {
			u.Problem = "The upstream lists more than 100 pages. So nothing was taken for settled there."
		}),
		state("4", func(u *models.UpstreamState) { u.PolledAt, u.SucceededAt, u.NextPollAt = nil, nil, Now }),
		state("5", func(u *models.UpstreamState) { u.NextPollAt = Now.Add(-2 * time.Minute) }),
		state("6", func(u *models.UpstreamState) {
			u.DisabledAt, u.Failures, u.Problem, u.Dialect, u.SucceededAt = at(time.Hour), 1, "The upstream refuses the key (401).", "cloud", nil
		}),
		state("7", func(u *models.UpstreamState) {
			u.PausedAt, u.Failures, u.Problem, u.SucceededAt = at(8*time.Minute), 1, "The upstream refuses the key (401).", at(9*time.Minute)
			u.Unsent, u.UnsentSince, u.UnsentProblem = 1, at(8*time.Minute), "The upstream refuses the key (401)."
		}),
	}
}
