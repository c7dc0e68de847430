package request

import (
	"net/url"
	"slices"
	"strings"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
)

// ReadPlace reads where in the inbox an address leads. The error names every
// member that is not an address's of ours.
func ReadPlace(q url.Values) (views.InboxPlace, error) {
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
	known("whose", p.Whose, "", views.WhoseForMe, views.WhoseWaits, views.WhoseReads, views.WhoseTogether, string(requests.WhoseMine), string(requests.WhoseRouted))
	known("order", p.Order, "", string(requests.ByAge), string(requests.ByRisk))
	risks := []string{""}
	for _, risk := range models.Risks() {
		risks = append(risks, string(risk))
	}
	known("risk", string(p.Risk), risks...)
	p.Conversation = site.ReadID[models.ConversationID](q, "conversation", faults)
	p.Agent = site.ReadID[models.AgentID](q, "agent", faults)
	p.Open = site.ReadID[models.ResponseID](q, "open", faults)
	if len(faults) > 0 {
		return p, &models.Error{Code: models.CodeInvalid, Text: "There is no such place in the inbox.", Fields: faults}
	}
	return p, nil
}

// ReadDesk is the place that a form leads back to; the whole inbox for one that
// cannot be read.
func ReadDesk(desk string) views.InboxPlace {
	q, err := url.ParseQuery(desk)
	if err != nil {
		return views.InboxPlace{}
	}
	p, err := ReadPlace(q)
	if err != nil {
		return views.InboxPlace{}
	}
	return p
}
