package gallery

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/agents"
)

func grantsStates() []State {
	list := func(name, note string, in agents.GrantsInput) State {
		return State{
			Page: "grants", Name: name, Note: note,
			Component: agents.GrantsPage(Frame("Grants", "/grants"), agents.NewGrants(in, Now)),
		}
	}
	one := func(name, note string, in agents.GrantInput) State {
		return State{
			Page: "grant", Name: name, Note: note,
			Component: agents.GrantPage(Frame("Grant for "+in.Grant.ToolName, "/grants/x"), agents.NewGrant(in, Now)),
		}
	}
	form := func(name, note string, in agents.GrantFormInput) State {
		in.MaxHours, in.MaxUses = 24, 50
		return State{
			Page: "grant-form", Name: name, Note: note,
			Component: agents.GrantFormPage(Frame("Pre-approve similar calls", "/approvals/x/grant"),
				agents.NewGrantForm(in, Now)),
		}
	}
	shell := Shell()
	reach := &models.GrantReach{Covered: 7, Sample: 40, Since: Now.Add(-8 * 24 * time.Hour)}
	all := GrantStates()
	return []State{
		list(Usual, "In every state there is, with long, many and hidden values",
			agents.GrantsInput{Grants: all, Admin: true, Next: "x"}),
		list("empty", "Says what will come and how", agents.GrantsInput{}),
		list("off", "The policy honours none", agents.GrantsInput{Grants: all[:1], After: "x", Off: true}),
		one(Usual, "With what it let through, to be revoked",
			agents.GrantInput{
				Grant: all[0], Calls: Briefs(throughGrant("make test"), throughGrant("make lint")), Next: "x", Sees: true,
			}),
		one("hostile", "Hidden characters, many members, revoked", agents.GrantInput{Grant: all[3], Sees: true}),
		one("unseen", "By a maker who may not decide any more", agents.GrantInput{Grant: all[4]}),
		form(Usual, "All ticked; the request can be approved too", agents.GrantFormInput{Approval: shell, Reach: reach}),
		form("anything", "Nothing ticked: it says what that means; limits to correct", agents.GrantFormInput{Approval: shell, Reach: &models.GrantReach{Covered: 500, Sample: 500, More: true, Since: reach.Since}, Form: agents.GrantForm{
			Sent: true, Hours: "48", Uses: "",
			Errors: map[string]string{
				"hours": "must be from 1 to 24", "uses": "must be from 1 to 50", "fixed": "must name members that the input has",
				"": "The same grant is live already: revoke it first to make it anew.",
			},
		}}),
		form("folded", "High risk with a folded part", agents.GrantFormInput{Approval: shell, Fold: true}),
		form("closed", "Critical: no grant is made",
			agents.GrantFormInput{Approval: Payment(), Closed: "Calls of critical risk are always decided one by one."}),
		form("hostile", "Hidden characters and long values, many members; no earlier call",
			agents.GrantFormInput{Approval: manyMembers(), Reach: &models.GrantReach{}}),
		form("whole", "The input is no object",
			agents.GrantFormInput{Approval: Settle(Call("Bash", `["make","test"]`), models.StatusApproved, models.CauseReviewer,
				&models.Vote{Verdict: models.VerdictApprove}), Reach: &models.GrantReach{
				Covered: 1, Sample: 1, Since: reach.Since,
			}}),
	}
}

func throughGrant(command string) models.Approval {
	return Call("Bash", `{"command":"`+command+`","cwd":"/src"}`, func(a *models.Approval) {
		a.ApprovalStatus, a.RequiresApproval, a.Cause, a.GrantID = nil, false, models.CauseGrant, new(models.GrantID("01890a5d-ac96-774b-bcce-b302099a8a01"))
	})
}

func manyMembers() models.Approval {
	var b strings.Builder
	b.WriteString(`{"a\u202ename":"<b>\u200b` + strings.Repeat("long ", 200) + `"`)
	for i := range 104 {
		b.WriteString(`,"member-` + strconv.Itoa(i) + `":` + strconv.Itoa(i))
	}
	return Call("Bash", b.String()+`}`,
		func(a *models.Approval) { a.AgentName, a.ConversationTitle = "bo\u202Et", "<i>Ship" })
}

// GrantStates are grants in every state that there is.
func GrantStates() []models.Grant {
	grant := func(n, fixed, free string, mend func(*models.Grant)) models.Grant {
		g := models.Grant{
			ID: models.GrantID("01890a5d-ac96-774b-bcce-b302099a8a0" + n), OwnerID: UserID, AgentID: AgentID, ToolName: "Bash",
			Fixed: fixed, Free: free,
			MadeBy: UserID, MakerName: "Ada Berg", MadeFrom: "01890a5d-ac96-774b-bcce-b302099a8057",
			CreatedAt: Now.Add(-40 * time.Minute), ExpiresAt: Now.Add(80 * time.Minute),
			MaxUses: 20, Uses: 3, UsedAt: new(Now.Add(-time.Minute)), AgentName: "release-bot", OwnerName: "Ada Berg",
			MakerMayDecide: true,
		}
		mend(&g)
		return g
	}
	revoker := models.UserID("01890a5d-ac96-774b-bcce-b302099a8202")
	return []models.Grant{
		grant("1", `{"cwd":"/src"}`, `["command"]`, func(*models.Grant) {}),
		grant("2", `{"command":"make test"}`, `[]`, func(g *models.Grant) { g.Uses = 20 }),
		grant("3", `{}`, `["command"]`,
			func(g *models.Grant) { g.ExpiresAt, g.Uses, g.UsedAt = Now.Add(-time.Minute), 0, nil }),
		grant("4", "{\"a\u202e\":\"<b>"+strings.Repeat("long", 60)+"\",\"b\":[1,2],\"c\":null,\"d\":{\"e\":1},\"f\":\"\u200b\"}", "[\"g\u202e\",\"h\"]", func(g *models.Grant) {
			g.ToolName, g.AgentName, g.MakerName = "mcp__files__"+strings.Repeat("write_", 12), "bo\u202Et", "Bo\u202E Lind"
			g.RevokedAt, g.RevokedBy, g.RevokerName = new(Now.Add(-time.Minute)), &revoker, "Bo\u202E Lind"
		}),
		grant("5", `["make","test"]`, `[]`, func(g *models.Grant) { g.MakerMayDecide = false }),
	}
}
