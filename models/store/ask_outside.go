package store

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// upstreamActor is the agent that an upstream's own requests belong to.
func upstreamActor(u *models.Upstream) models.Actor {
	return models.Actor{Kind: models.ActorAgent, ID: string(u.AgentID), Name: u.Name, OwnerID: u.OwnerID}
}

// askUnmatched gives an item a response in the upstream's standing conversation.
func (t *tx) askUnmatched(u *models.Upstream, item models.OutsideItem, row *outsideRow) (*models.Approval, error) {
	r := models.Response{Kind: models.KindToolCall, ToolName: row.Name, ToolInputJSON: string(item.Arguments), MatchedBy: "unmatched"}
	if r.ToolName == "" {
		r.ToolName = "(no name)"
	}
	canonical, err := models.Canonical(r.Kind, r.ToolName, item.Arguments)
	if err != nil || len(item.Arguments) > models.MaxInput || !row.whole(&item) {
		// It cannot be shown whole or digested as others are: it can be rejected.
		length := int64(len(item.Arguments))
		quoted, quoteErr := jsontext.AppendQuote(nil, cutAt(row.Arguments, models.MaxInput/2))
		if quoteErr != nil {
			return nil, fmt.Errorf("keep arguments: %w", quoteErr)
		}
		r.InputBytes, r.ToolInputJSON, canonical = &length, string(quoted), item.Arguments
	}
	r.Digest = models.Digest(canonical)
	return t.askOwn(u, r, row, nil)
}

// questionOf is what a human contact asks, as a question.
func questionOf(item *models.OutsideItem) (models.Response, error) {
	r := models.Response{Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: "{}", Description: validText(item.Message)}
	if n := len(r.Description); n > models.MaxContent {
		r.Description = fmt.Sprintf("%s… (the beginning of %d bytes)", cutAt(r.Description, models.MaxContent), n)
	}
	if r.Description == "" {
		r.Description = "The other system asks a person. Its question was not found: the context below is all that it sent."
	}
	var err error
	r.Options, err = models.StoredOptions(item.Options)
	return r, err
}

// askContact makes a question of a human contact, in its run if that is known.
func (t *tx) askContact(u *models.Upstream, item models.OutsideItem, row *outsideRow) (*models.Approval, error) {
	r, err := questionOf(&item)
	if err != nil {
		return nil, err
	}
	r.Context = contactContext(item, row)
	if r.Digest, err = r.DigestUnder(models.DigestVersion); err != nil {
		return nil, err
	}
	runs, err := t.runsFor(u, item.RunID)
	if err != nil {
		return nil, fmt.Errorf("look for a run: %w", err)
	}
	if len(runs) == 0 {
		return t.askOwn(u, r, row, nil)
	}
	conv, err := t.fullConversation(runs[0])
	if err != nil {
		return nil, err
	}
	return t.askOwn(u, r, row, conv)
}

// contactContext is what a contact sends beside its question: its subject, and the
// rest as JSON.
func contactContext(item models.OutsideItem, row *outsideRow) string {
	return strings.TrimSpace(row.Name + "\n\n" + restOf(item))
}

// restOf is what an item sends beside what is asked.
func restOf(item models.OutsideItem) string {
	rest := cutAt(validText(string(item.Rest)), maxRaw)
	if n := len(item.Rest); n > len(rest) {
		return fmt.Sprintf("%s… (the beginning of %d bytes)", rest, n)
	} else if canonical, err := models.CanonicalJSON("rest", item.Rest); n > 0 && err == nil {
		return string(canonical)
	}
	return rest
}

// askOwn stores a response of the upstream's own, in its standing conversation
// unless another is given, and makes it pending.
func (t *tx) askOwn(u *models.Upstream, r models.Response, row *outsideRow, conv *models.Conversation) (*models.Approval, error) {
	actor := upstreamActor(u)
	if conv == nil {
		found, err := scanConversation(t.Row(t.s.hot.conversationByRest, u.AgentID))
		if err != nil {
			return nil, err
		}
		if found == nil {
			if found, err = t.openConversation(actor, &asked{onReject: models.OnRejectCascade}); err != nil {
				return nil, err
			}
		}
		conv = found
	}
	a := t.responseIn(actor, conv, r)
	var err error
	if a.Sequence, _, err = t.take(conv.ID, 0); err != nil {
		return nil, err
	}
	a.Risk = models.RiskMedium
	if err := t.addResponse(&a.Response); err != nil {
		return nil, err
	}
	return a, t.askOutside(u, a, row)
}
