package requests_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// several are conversations of two people's agents, a minute apart: each in
// another status, every fourth archived.
func several(t *testing.T) (b *bench, all []models.ConversationView) {
	t.Helper()
	b = newBench(t, storetest.NoLimits)
	for i := range 24 {
		b.Clock.Step(time.Minute)
		agent, person := b.Agent, b.Owner
		if i%3 == 0 {
			agent, person = b.Other, b.Stranger
		}
		id := models.NewID[models.ConversationID]()
		kind := models.KindReply
		if i%4 == 1 {
			kind = models.KindProposal
		}
		storetest.Must(t, storetest.Err(b.Respond(t.Context(), agent, models.ResponseInput{ConversationID: id, Kind: kind, Content: "x"})))
		if i%4 == 2 {
			storetest.Must(t, storetest.Err(b.Steer(t.Context(), person, id, models.SteerStop)))
		}
		if i%4 == 3 {
			storetest.Must(t, storetest.Err(b.Steer(t.Context(), person, id, models.SteerArchive)))
		}
		v, err := b.Requests.Conversation(t.Context(), b.Admin, id)
		storetest.Must(t, err)
		all = append(all, *v)
	}
	slices.Reverse(all) // newest activity first
	return b, all
}

func (b *bench) listed(t *testing.T, who models.Actor, q requests.ConversationQuery) []models.ConversationID {
	t.Helper()
	var out []models.ConversationID
	for range 100 {
		l, err := b.Requests.Conversations(t.Context(), who, q)
		storetest.Must(t, err)
		for _, v := range l.Items {
			out = append(out, v.ID)
		}
		if q.Cursor = l.Next; q.Cursor == "" {
			return out
		}
		if len(l.Items) != q.Limit {
			t.Errorf("a page of %d, want %d", len(l.Items), q.Limit)
		}
	}
	t.Fatal("the pages have no end")
	return nil
}

func TestConversationsByEveryFilter(t *testing.T) {
	t.Parallel()
	b, all := several(t)
	for who, actor := range map[string]models.Actor{"admin": b.Admin, "owner": b.Owner, "stranger": b.Stranger, "agent": b.Agent, "other": b.Other} {
		for _, status := range []models.ConversationStatus{"", models.ConversationRunning, models.ConversationWaitingInput, models.ConversationFailed, models.ConversationCompleted} {
			for _, owner := range []models.UserID{"", b.Owner.UserID()} {
				for _, agent := range []models.AgentID{"", b.Agent.AgentID()} {
					for _, archived := range []bool{false, true} {
						name := fmt.Sprintf("%s %s owner %v agent %v archived %v", who, status, owner != "", agent != "", archived)
						t.Run(name, func(t *testing.T) {
							var want []models.ConversationID
							for _, v := range all {
								sees := actor.Admin || v.OwnerID == actor.UserID() || v.AgentID == actor.AgentID()
								// Only admins choose by owner, and agents see their own.
								byOwner := owner == "" || !actor.Admin || v.OwnerID == owner
								byAgent := agent == "" || actor.IsAgent() || v.AgentID == agent
								if sees && byOwner && byAgent && (status == "" || v.Status == status) && (v.ArchivedAt != nil) == archived {
									want = append(want, v.ID)
								}
							}
							for _, limit := range []int{1, 4, 100} {
								got := b.listed(t, actor, requests.ConversationQuery{Status: status, Owner: owner, Agent: agent, Archived: archived, Limit: limit})
								if !slices.Equal(got, want) {
									t.Errorf("by %d: %d conversations, want %d", limit, len(got), len(want))
								}
							}
						})
					}
				}
			}
		}
	}
}

func TestConversationsMoveUpWithWhatHappens(t *testing.T) {
	t.Parallel()
	b, all := several(t)
	last := all[len(all)-1]
	b.Clock.Step(time.Hour)
	agent := b.Agent
	if last.AgentID == b.Other.AgentID() {
		agent = b.Other
	}
	storetest.Must(t, storetest.Err(b.Respond(t.Context(), agent, models.ResponseInput{ConversationID: last.ID, Kind: models.KindReply, Content: "x"})))
	l, err := b.Requests.Conversations(t.Context(), b.Admin, requests.ConversationQuery{Limit: 1})
	storetest.Must(t, err)
	if l.Items[0].ID != last.ID || !l.Items[0].ActiveAt.Equal(b.Clock.Now().Truncate(time.Minute)) || l.Items[0].OwnerName == "" || l.Items[0].AgentName != "bot" {
		t.Errorf("the first is %+v", l.Items[0])
	}
}

func TestConversationsRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, tt := range []struct {
		who  models.Actor
		q    requests.ConversationQuery
		code models.Code
	}{
		{models.Actor{}, requests.ConversationQuery{}, models.CodeForbidden},
		{storetest.Operator(), requests.ConversationQuery{}, models.CodeForbidden},
		{b.Owner, requests.ConversationQuery{Status: "sleeping"}, models.CodeInvalid},
		{b.Owner, requests.ConversationQuery{Cursor: "x"}, models.CodeInvalid},
		{b.Owner, requests.ConversationQuery{Cursor: "4oCm"}, models.CodeInvalid},
	} {
		storetest.Refused(t, storetest.Err(b.Requests.Conversations(t.Context(), tt.who, tt.q)), tt.code)
	}
}
