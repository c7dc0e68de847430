package web

import (
	"net/url"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
)

// readPlace reads where in the inbox an address leads. The error names every
// member that is not an address's of ours.
func readPlace(q url.Values) (views.InboxPlace, error) {
	p := views.InboxPlace{
		Tool: strings.TrimSpace(q.Get("tool")), Text: strings.TrimSpace(q.Get("q")),
		Whose: q.Get("whose"), Order: q.Get("order"), Risk: models.Risk(q.Get("risk")), After: q.Get("after"),
	}
	faults := map[string]string{}
	known := func(name, value string, values ...string) {
		if slices.Contains(values, value) {
			return
		}
		faults[name] = "must be one of " + strings.Join(values[1:], ", ")
	}
	known("whose", p.Whose, "", string(requests.WhoseMine), string(requests.WhoseRouted))
	known("order", p.Order, "", string(requests.ByAge), string(requests.ByRisk))
	risks := []string{""}
	for _, risk := range models.Risks() {
		risks = append(risks, string(risk))
	}
	known("risk", string(p.Risk), risks...)
	p.Conversation = readID[models.ConversationID](q, "conversation", faults)
	p.Agent = readID[models.AgentID](q, "agent", faults)
	p.Open = readID[models.ResponseID](q, "open", faults)
	if len(faults) > 0 {
		return p, &models.Error{Code: models.CodeInvalid, Text: "There is no such place in the inbox.", Fields: faults}
	}
	return p, nil
}

// readID is an id in an address; empty, with a fault noted, for what is none.
func readID[T ~string](q url.Values, name string, faults map[string]string) T {
	raw := strings.TrimSpace(q.Get(name))
	if raw == "" {
		return ""
	}
	id, err := models.ParseID[T](name, raw)
	if err != nil {
		faults[name] = "must be an id"
	}
	return id
}

// readDesk is the place that a form leads back to; the whole inbox for one that
// cannot be read.
func readDesk(desk string) views.InboxPlace {
	q, err := url.ParseQuery(desk)
	if err != nil {
		return views.InboxPlace{}
	}
	p, err := readPlace(q)
	if err != nil {
		return views.InboxPlace{}
	}
	return p
}

// inboxQuery asks the store for what a place shows.
func inboxQuery(p views.InboxPlace) requests.InboxQuery {
	return requests.InboxQuery{
		Conversation: p.Conversation, Agent: p.Agent, Tool: p.Tool, Risk: p.Risk, Text: p.Text,
		Whose: requests.Whose(p.Whose), Order: requests.InboxOrder(p.Order), After: p.After,
	}
}

// emptyMembers reports whether a form left members of an address empty: the
// address without them names the same place.
func emptyMembers(q url.Values) bool {
	for _, values := range q {
		if len(values) == 1 && values[0] == "" {
			return true
		}
	}
	return false
}
