package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/storetest"
)

// standing is what a database holds of conversations at one moment.
type standing struct {
	convs    map[string]convRow
	rows     map[string]respRow
	messages map[string]string // to its conversation
	steps    map[string]int    // changes of the budget by conversation
	seq      int64
}

type convRow struct {
	status, title    string
	owner            string
	budget           sql.Null[int64]
	used, reserved   int64
	paused, archived bool
	builtIn          bool
}

type respRow struct {
	conv, kind, status string
	deadline           time.Time
	energy             int64
	held, open         bool
	notes              int
}

type entryRow struct {
	actor, action, conv, resp string
	data                      struct {
		Old, New any
	}
}

// look reads what stands, beside the store.
func look(t *rapid.T, db *sql.DB) standing {
	s := standing{convs: map[string]convRow{}, rows: map[string]respRow{}, messages: map[string]string{}, steps: map[string]int{}}
	storetest.Each(t, db, `SELECT c.id, c.status, c.title, c.energy_budget, c.energy_used, c.energy_reserved, c.paused_at IS NOT NULL, c.archived_at IS NOT NULL, a.system, c.owner_id
 FROM conversations c JOIN agents a ON a.id = c.agent_id`, func(scan func(...any)) {
		var id string
		var c convRow
		scan(&id, &c.status, &c.title, &c.budget, &c.used, &c.reserved, &c.paused, &c.archived, &c.builtIn, &c.owner)
		s.convs[id] = c
	})
	storetest.Each(t, db, `SELECT id, conversation_id, kind, coalesce(approval_status, ''), approval_timeout_at, energy, held_until IS NOT NULL, open_note IS NOT NULL,
 (SELECT count(*) FROM notes WHERE response_id = r.id) FROM responses r`, func(scan func(...any)) {
		var id string
		var r respRow
		scan(&id, &r.conv, &r.kind, &r.status, &r.deadline, &r.energy, &r.held, &r.open, &r.notes)
		s.rows[id] = r
	})
	storetest.Each(t, db, `SELECT id, conversation_id FROM messages`, func(scan func(...any)) {
		var id, conv string
		scan(&id, &conv)
		s.messages[id] = conv
	})
	storetest.Each(t, db, `SELECT conversation_id, count(*) FROM budget_steps GROUP BY conversation_id`, func(scan func(...any)) {
		var conv string
		var n int
		scan(&conv, &n)
		s.steps[conv] = n
	})
	storetest.Each(t, db, `SELECT seq FROM ledger_head`, func(scan func(...any)) { scan(&s.seq) })
	return s
}

// replay holds what the ledger tells against what was there before and is there
// now: each change of an object is exactly one entry, and no entry tells of more.
type replay struct {
	standing

	rows     map[string]string // the status of each response
	held     map[string]bool   // whether a verdict holds it
	notes    map[string]int    // how many were added
	moved    map[string]bool   // whether its deadline may have moved
	messages map[string]int
	most     map[string]int64 // the largest budget that a conversation had meanwhile
}

func (w *world) entries(t *rapid.T, after int64) []entryRow {
	var out []entryRow
	storetest.Each(t, w.db, `SELECT actor_kind, action, conversation_id, response_id, data FROM ledger WHERE seq > ? ORDER BY seq`, func(scan func(...any)) {
		var e entryRow
		var data string
		scan(&e.actor, &e.action, &e.conv, &e.resp, &data)
		var members struct {
			Old any `json:"old"`
			New any `json:"new"`
		}
		if err := json.Unmarshal([]byte(data), &members); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		e.data.Old, e.data.New = members.Old, members.New
		out = append(out, e)
	}, after)
	return out
}

// follow replays the entries since before and compares the end with after.
func (w *world) follow(t *rapid.T, before, after standing) {
	r := replay{
		standing: standing{convs: maps.Clone(before.convs), steps: maps.Clone(before.steps)},
		rows:     map[string]string{}, messages: map[string]int{}, most: map[string]int64{},
		held: map[string]bool{}, notes: map[string]int{}, moved: map[string]bool{},
	}
	for id, row := range before.rows {
		r.rows[id], r.held[id] = row.status, row.held
	}
	for id, c := range before.convs {
		r.most[id] = limit(c.budget)
	}
	for _, e := range w.entries(t, before.seq) {
		w.step(t, &r, e, after)
	}
	for id, c := range after.convs {
		told := r.convs[id]
		told.used, told.reserved, told.builtIn, told.owner = c.used, c.reserved, c.builtIn, c.owner
		if _, ok := r.convs[id]; !ok || told != c {
			t.Fatalf("of conversation %s the ledger tells %+v, it stands as %+v", id, told, c)
		}
		if r.steps[id] != after.steps[id] {
			t.Fatalf("of %d changes of a budget the ledger tells %d", after.steps[id], r.steps[id])
		}
		if c.used > before.convs[id].used && c.used+c.reserved > r.most[id] {
			t.Fatalf("%d used and %d reserved pass the budget of %d", c.used, c.reserved, r.most[id])
		}
	}
	for id, row := range after.rows {
		if told, ok := r.rows[id]; !ok || told != row.status {
			t.Fatalf("of a %s the ledger tells %q, it is %q", row.kind, told, row.status)
		}
		was, stood := before.rows[id]
		switch {
		case row.held != r.held[id]:
			t.Fatalf("of a %s the ledger tells that a verdict holds it: %v; it is %v", row.kind, r.held[id], row.held)
		case row.notes != was.notes+r.notes[id]:
			t.Fatalf("a %s has %d notes after %d, the ledger tells of %d more", row.kind, row.notes, was.notes, r.notes[id])
		case stood && !row.deadline.Equal(was.deadline) && !r.moved[id]:
			t.Fatalf("the deadline of a %s moved from %v to %v, of which the ledger does not tell", row.kind, was.deadline, row.deadline)
		}
	}
	if len(r.rows) != len(after.rows) || len(r.convs) != len(after.convs) {
		t.Fatalf("the ledger tells of %d responses and %d conversations; there are %d and %d", len(r.rows), len(r.convs), len(after.rows), len(after.convs))
	}
	said := map[string]int{}
	for id, conv := range after.messages {
		if _, ok := before.messages[id]; !ok {
			said[conv]++
		}
	}
	if !maps.Equal(said, r.messages) {
		t.Fatalf("the ledger tells of messages %v, there are %v", r.messages, said)
	}
}

func limit(budget sql.Null[int64]) int64 {
	if !budget.Valid {
		return math.MaxInt64
	}
	return budget.V
}

// step is one entry.
func (w *world) step(t *rapid.T, r *replay, e entryRow, after standing) {
	c := r.convs[e.conv]
	flip := func(flag *bool, to bool) {
		if *flag == to {
			t.Fatalf("%s changes nothing", e.action)
		}
		*flag = to
	}
	switch e.action {
	case "agent.registered":
		return
	case "conversation.opened":
		if _, ok := r.convs[e.conv]; ok {
			t.Fatal("a conversation was opened twice")
		}
		c = convRow{status: string(models.ConversationRunning), title: after.convs[e.conv].title}
		r.most[e.conv] = math.MaxInt64
	case "conversation.status":
		if e.data.Old != c.status || e.data.New == c.status {
			t.Fatalf("the ledger tells of %v to %v, it was %s", e.data.Old, e.data.New, c.status)
		}
		c.status, _ = e.data.New.(string)
	case "conversation.budget":
		w.budget(t, &c, r, e)
	case "conversation.paused":
		flip(&c.paused, true)
	case "conversation.resumed":
		flip(&c.paused, false)
	case "conversation.archived":
		flip(&c.archived, true)
	case "conversation.unarchived":
		flip(&c.archived, false)
	case "conversation.renamed":
		if c.title == after.convs[e.conv].title {
			t.Fatal("a title was changed to what it was")
		}
		c.title = after.convs[e.conv].title
	case "message.added":
		r.messages[e.conv]++
		if e.actor == "user" {
			delete(w.refused, e.conv)
		}
	default:
		w.response(t, r, e, after.rows[e.resp].kind)
	}
	r.convs[e.conv] = c
}

func (w *world) budget(t *rapid.T, c *convRow, r *replay, e entryRow) {
	old, stood := e.data.Old.(float64)
	next, _ := e.data.New.(float64)
	if stood != c.budget.Valid || int64(old) != c.budget.V || (stood && old == next) {
		t.Fatalf("the ledger tells of a budget from %v to %v, it was %+v", e.data.Old, e.data.New, c.budget)
	}
	switch e.actor {
	case "agent":
		if stood && next > old {
			t.Fatalf("I4: an agent raised a budget from %v to %v", old, next)
		}
	case "system":
		if w.added[e.conv] += int64(next - old); w.added[e.conv] > w.auto {
			t.Fatalf("the system added %d in all, it may %d", w.added[e.conv], w.auto)
		}
	case "user":
		delete(w.refused, e.conv)
		delete(w.added, e.conv)
	}
	c.budget = sql.Null[int64]{V: int64(next), Valid: true}
	r.steps[e.conv]++
	r.most[e.conv] = max(r.most[e.conv], int64(next))
}

// begins are the states in which a response begins, by the word for it.
var begins = map[string]string{"response.added": "", "approval.let_through": "", "approval.ran": "", "approval.requested": "pending", "approval.rejected": "rejected"}

// beside are the entries about a request that leave it pending.
func (w *world) beside(t *rapid.T, r *replay, e entryRow, status string) bool {
	held := r.held[e.resp]
	switch e.action {
	case "approval.voted":
		r.held[e.resp] = true
	case "approval.taken_back":
		r.held[e.resp], held = false, !held
	case "approval.asked_back", "approval.extended", "approval.note_added":
		r.moved[e.resp] = true
		if e.action != "approval.extended" {
			r.notes[e.resp]++
		}
		held = held && e.action != "approval.note_added"
	default:
		return false
	}
	if status != "pending" || held {
		t.Fatalf("%s of what is %q, held: %v", e.action, status, held)
	}
	if agent := e.actor == "agent"; agent && e.action != "approval.note_added" {
		t.Fatalf("I4: an agent did %s", e.action)
	}
	return true
}

func (w *world) response(t *rapid.T, r *replay, e entryRow, kind string) {
	status, stood := r.rows[e.resp]
	if w.beside(t, r, e, status) {
		return
	}
	switch begin, ok := begins[e.action]; {
	case !stood && ok:
		r.rows[e.resp] = begin
		if kind == "budget" && w.refused[e.conv] {
			t.Fatal("more budget was asked for again after a rejection")
		}
	case stood && status == "pending" && slices.Contains([]string{"approval.approved", "approval.rejected", "approval.expired", "approval.cancelled", "approval.resolved"}, e.action):
		r.rows[e.resp], r.held[e.resp] = e.action[len("approval."):], false
	default:
		t.Fatalf("I1: %s of a %s that was %q (%v)", e.action, kind, status, stood)
	}
	if kind == "budget" && r.rows[e.resp] != "pending" {
		if r.rows[e.resp] == "rejected" {
			w.refused[e.conv] = true
		}
		if e.actor == "user" && r.rows[e.resp] != "resolved" {
			delete(w.added, e.conv)
		}
	}
}

// holds checks what must hold at any time.
func (w *world) holds(t *rapid.T, s standing) {
	spent, waits, budgets := map[string]int64{}, map[string]bool{}, map[string]int{}
	for _, r := range s.rows {
		spent[r.conv] += r.energy
		if r.status != "pending" {
			continue
		}
		waits[r.conv] = true
		if r.kind == "budget" {
			budgets[r.conv]++
		}
	}
	for id, r := range s.rows {
		if (r.held || r.open) && r.kind == "reply" || r.held && r.status != "pending" {
			t.Fatalf("%s, a %s that is %q, is held", id, r.kind, r.status)
		}
	}
	storetest.Each(t, w.db, `SELECT count(*) FROM deciders d LEFT JOIN responses r ON r.id = d.response_id WHERE r.approval_status IS NOT 'pending' OR r.approval_timeout_at <> d.deadline`, func(scan func(...any)) {
		var wrong int
		if scan(&wrong); wrong > 0 {
			t.Fatalf("%d rows in inboxes are of what does not wait, or at another deadline", wrong)
		}
	})
	storetest.Each(t, w.db, `SELECT conversation_id, sum(energy) FROM turns GROUP BY conversation_id`, func(scan func(...any)) {
		var conv string
		var energy int64
		scan(&conv, &energy)
		spent[conv] += energy
	})
	for id, c := range s.convs {
		v, err := w.Requests.Conversation(context.Background(), models.Actor{Kind: models.ActorUser, ID: "an admin", Admin: true}, models.ConversationID(id))
		if err != nil || v.Status != models.ConversationStatus(c.status).Shown(waits[id]) {
			t.Fatalf("a conversation is shown as %s, %v: %s is stored, and that somebody is waited for is %t", v.Status, err, c.status, waits[id])
		}
		switch {
		case c.used != spent[id] || c.used < 0 || c.reserved < 0:
			t.Fatalf("I14: %d used and %d reserved, responses and turns have %d", c.used, c.reserved, spent[id])
		case budgets[id] > 1:
			t.Fatalf("%d budget requests are pending", budgets[id])
		case c.status == "waiting_input" && !c.builtIn: // what is pending is no reason to store it; the built-in agent rests for others
			t.Fatal("a conversation waits for nobody")
		}
	}
}

// unchanged compares two moments between which nothing was to happen.
func unchanged(t *rapid.T, before, after standing) {
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("something was changed:\n%s\n%s", fmt.Sprintf("%+v", before), fmt.Sprintf("%+v", after))
	}
}
