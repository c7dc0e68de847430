package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"countersign/handlers"
	"countersign/models"
)

// Capability says who may use a route at all; what one may do with an object is
// the use case's to say, which checks the capability again.
type Capability string

// The capabilities of routes.
const (
	Anyone        Capability = "anyone"         // with a token that holds
	Agents        Capability = "agents"         // agent tokens
	People        Capability = "people"         // reviewer and admin tokens (I4)
	PolicyReaders Capability = "policy readers" // admin tokens, and reviewer tokens of auditors and policy editors
	Drafters      Capability = "drafters"       // admin tokens, and reviewer tokens of policy editors
	Admins        Capability = "admins"         // admin tokens of people who are admins now (I4)
)

func (c Capability) allows(actor models.Actor) bool {
	switch c {
	case Agents:
		return actor.IsAgent()
	case People:
		return actor.IsPerson()
	case PolicyReaders:
		return actor.NeedPolicy() == nil
	case Drafters:
		return actor.MayDraft()
	case Admins:
		return actor.MayAdminister()
	case Anyone:
		return true
	}
	return false
}

func (c Capability) refusal() error {
	switch c {
	case Agents:
		return models.Errorf(models.CodeForbidden, "Only an agent's token may do this.")
	case Admins:
		return models.Errorf(models.CodeForbidden, "Only an admin may do this: use an admin's token or the page.")
	case PolicyReaders:
		return models.Errorf(models.CodeForbidden, "Only an admin, an auditor or a policy editor may see this.")
	case Drafters:
		return models.Errorf(models.CodeForbidden, "Only an admin or a policy editor may do this: use such a token or the page.")
	case People, Anyone:
	}
	return models.Errorf(models.CodeForbidden, "Only a person may do this: use a reviewer's token or the page.")
}

// inner lets signedIn embed huma's interface under a name that does not hide
// its Context method.
type humaContext huma.Context

// signedIn is a request whose sender is known.
type signedIn struct {
	humaContext

	actor     models.Actor
	requestID string
	waits     *waiting // set on a route that may wait, which writes its own answer
	lists     bool     // it has one of the places of those who list
}

// Unwrap gives the request as it came.
func (c *signedIn) Unwrap() huma.Context { return c.humaContext }

// Param is a parameter of the path as it was meant.
func (c *signedIn) Param(name string) string {
	return handlers.PathParam(humaecho.Unwrap(c), name)
}

// SetStatus sends the status, unless the route writes its own answer.
func (c *signedIn) SetStatus(code int) {
	if c.waits == nil {
		c.humaContext.SetStatus(code)
	}
}

// signIn lets a request through to its handler if its token holds and has the
// capability; it is refused before its body is read.
func (a *API) signIn(who Capability) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := a.admit(ctx, who)
		if c == nil {
			return
		}
		defer a.endList(c)
		next(c)
	}
}

// admit finds out who sends a request; nil if it was refused and answered.
func (a *API) admit(ctx huma.Context, who Capability) *signedIn {
	c := humaecho.Unwrap(ctx)
	actor, err := handlers.Principal(ctx.Context(), a.store.People, ctx.Header("Authorization"))
	if err == nil && !who.allows(actor) {
		err = who.refusal()
	}
	if err == nil && ctx.Method() != http.MethodGet {
		err = actor.NeedToAct()
	}
	if err != nil {
		a.kit.FailJSON(err, c)
		return nil
	}
	return &signedIn{humaContext: ctx, actor: actor, requestID: handlers.RequestID(c)}
}

// caller is embedded by every input: who sends it, taken from the token.
type caller struct {
	actor models.Actor
	from  *signedIn
}

// Resolve is called by huma once parameters and body are read.
func (c *caller) Resolve(ctx huma.Context) []error {
	if s, ok := ctx.(*signedIn); ok {
		c.actor, c.from = s.actor, s
	}
	return nil
}

func (c *caller) sender() *caller { return c }
