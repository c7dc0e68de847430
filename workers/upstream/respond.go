package upstream

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Delivery is what became of telling an upstream.
type Delivery string

// What may become of it.
const (
	Delivered Delivery = "delivered" // 2xx
	Conflict  Delivery = "conflict"  // 409: it has a verdict already
	Gone      Delivery = "gone"      // 404: it no longer knows the call
	Retry     Delivery = "retry"     // not told for now: 5xx, 408, 425, 429, a redirect, no answer
	// 400, 403, 422, any other 4xx, and what cannot be said in the dialect: trying again changes nothing
	Refused  Delivery = "refused"
	WrongKey Delivery = "wrong_key" // 401: it takes nothing with this key
)

// Outcome is how one attempt to tell an upstream ended.
type Outcome struct {
	Delivery Delivery
	Status   int // that it answered; 0: it did not
	// Lost reports, with Retry, that the verdict may have arrived: the request was
	// on its way when the connection failed, or a server failed over it. A conflict
	// later may then be our own verdict.
	Lost bool
	// Text is a sentence for people; it holds neither the key nor what the upstream
	// wrote.
	Text string
	// Words is what the upstream itself said, with Refused: cut, without the key, and
	// not to be trusted.
	Words string
}

// RespondCall tells the verdict on a function call. In the cloud dialect a
// rejection without a reason gets a text, since a client of it fails otherwise.
func (c *Client) RespondCall(ctx context.Context, callID string, approved bool, reason string) Outcome {
	return c.respond(ctx, callID, c.dialect.respondCall, c.dialect.verdict(approved, reason))
}

// RespondContact tells the answer to a human contact. option is the name of the
// offered answer that was chosen, if one was; the plain dialect does not tell it.
// An empty answer is not sent: clients would go on waiting for one.
func (c *Client) RespondContact(ctx context.Context, callID, response, option string) Outcome {
	if response == "" {
		return Outcome{Delivery: Refused, Text: "An empty answer cannot be sent."}
	}
	return c.respond(ctx, callID, c.dialect.respondContact, c.dialect.answer(response, option))
}

func (c *Client) respond(ctx context.Context, callID string, path func(string) string, said any) Outcome {
	if callID == "" {
		return Outcome{Delivery: Refused, Text: "The call has no id in the upstream."}
	}
	body, err := json.Marshal(said, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return Outcome{Delivery: Refused, Text: "The decision cannot be written as JSON."}
	}
	r, p := c.send(ctx, http.MethodPost, path(segment(callID)), body, false)
	if p != nil {
		return Outcome{Delivery: Retry, Lost: p.sent, Text: "The upstream " + p.text + "."}
	}
	o := Outcome{Status: r.status, Text: "The upstream " + saysNo(r.status) + "."}
	switch {
	case r.status >= 200 && r.status <= 299:
		o.Delivery, o.Text = Delivered, "The upstream accepted the decision."
	case r.status == http.StatusConflict:
		o.Delivery, o.Text = Conflict, "The upstream already has a decision (409)."
	case r.status == http.StatusNotFound:
		o.Delivery, o.Text = Gone, "The upstream no longer knows the call (404)."
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests:
		o.Delivery = Retry
	case r.status == http.StatusUnauthorized:
		o.Delivery = WrongKey
	case r.status >= 400 && r.status <= 499:
		o.Delivery, o.Words = Refused, c.words(r.body)
		o.Text = fmt.Sprintf("The upstream refuses the decision (%d).", r.status)
	default:
		o.Delivery, o.Lost = Retry, true
	}
	return o
}
