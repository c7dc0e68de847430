package store

import (
	"context"
	"slices"
	"strings"

	"countersign/models"
)

// MostFound is how many of each kind LookUp finds.
const MostFound = 8

// Found is where a text leads: of each kind the first MostFound that the reader may open.
type Found struct {
	Agents        []FoundAgent
	Conversations []models.ConversationView // most recently active first
	// Requests are those with the text as their id, then the pending ones by deadline,
	// then the others, latest first.
	Requests []models.Brief
	// Cut says that not all requests were looked at.
	Cut bool
}

// FoundAgent is an agent that was found by its name.
type FoundAgent struct {
	ID          models.AgentID
	Name, Owner string
	Disabled    bool
	Pending     bool // something of it is pending
}

// LookUp finds agents by name, conversations by title, run or agent, and requests by what
// InboxQuery.Text looks for; the latter two by their id too, whole, its beginning or its
// end. Agents and conversations are the reader's own, for admins all; requests those that
// the reader sees. An empty text finds nothing. However much is stored, it looks at the
// latest only: 1,000 requests and conversations each by their text.
//
// Codes: forbidden (people only), invalid.
func (s *Store) LookUp(ctx context.Context, actor models.Actor, text string) (Found, error) {
	if !actor.IsPerson() {
		return Found{}, models.Errorf(models.CodeForbidden, "Only a person looks something up.")
	}
	text = strings.TrimSpace(text)
	if err := models.CheckText("q", text, maxSearch); err != nil || text == "" {
		return Found{}, err
	}
	var out Found
	var err error
	if out.Agents, err = s.lookUpAgents(ctx, actor, text); err != nil {
		return Found{}, err
	}
	if out.Conversations, err = s.lookUpConversations(ctx, actor, text); err != nil {
		return Found{}, err
	}
	if err := s.lookUpRequests(ctx, actor, text, &out); err != nil {
		return Found{}, err
	}
	return out, nil
}

// lookUpRequests finds requests by their id, and what is missing by their text.
func (s *Store) lookUpRequests(ctx context.Context, actor models.Actor, text string, out *Found) error {
	var keys []key
	add := func(found []key) {
		for _, k := range found {
			if len(keys) < MostFound && !slices.ContainsFunc(keys, func(have key) bool { return have.number == k.number }) {
				keys = append(keys, k)
			}
		}
	}
	id, named := partOfID(text)
	if named {
		found, err := s.requestsByID(ctx, actor, id)
		if err != nil {
			return err
		}
		add(found)
	}
	looks := []lookUp{{text: text}}
	if named {
		looks = slices.Insert(looks, 0, lookUp{end: id})
	}
	for _, look := range looks {
		if len(keys) == MostFound || len(keys) > 0 && len(id) == wholeID {
			break
		}
		found, cut, err := s.requestsBy(ctx, actor, look)
		if err != nil {
			return err
		}
		out.Cut = out.Cut || cut
		add(found)
	}
	rows, err := s.rowsOf(ctx, keys, briefColumns)
	out.Requests = briefs(rows)
	return err
}

// lookUp is what requests are looked for by: a text, or the end of their id.
type lookUp struct{ text, end string }

// requestsBy are pending requests, and then others, and whether there are some that were
// not looked at.
func (s *Store) requestsBy(ctx context.Context, actor models.Actor, look lookUp) (found []key, cut bool, err error) {
	now := s.db.Now()
	pending := InboxQuery{Text: look.text}
	l, err := s.inboxSearch(ctx, actor, pending, now)
	if err != nil {
		return nil, false, err
	}
	if err := s.inboxFrom(ctx, l, pending, now); err != nil {
		return nil, false, err
	}
	look.narrow(l)
	first, err := s.search(ctx, l, deadlineOf, MostFound, MostFound, l.most())
	if err != nil || len(first.keys) == MostFound {
		return first.keys, first.cut, err
	}
	if l, err = s.settledSearch(ctx, actor, SettledQuery{Text: look.text}); err != nil {
		return nil, false, err
	}
	look.narrow(l)
	more, err := s.search(ctx, l, (*key).at, MostFound, MostFound, l.most())
	return append(first.keys, more.keys...), first.cut || more.cut, err
}

// narrow adds the end of an id to what a search picks.
func (look lookUp) narrow(l *search) {
	if look.end != "" {
		l.pick += endsWith
		l.args["ending"] = look.end
	}
}

// Pages show the end of an id (…099a8057), people copy whole ones, logs may cut them.
const (
	leastOfID = 8
	wholeID   = 36
)

// partOfID is an id or a part of one, in small letters, if a text is that.
func partOfID(text string) (string, bool) {
	id := strings.ToLower(strings.TrimPrefix(text, "…"))
	return id, len(id) >= leastOfID && len(id) <= wholeID && strings.Trim(id, "0123456789abcdef-") == ""
}

// afterID is behind all ids that begin so.
func afterID(id string) string { return id + "g" }
