package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/policy"
)

func (a *API) registerToolConfig() {
	register(a, Anyone, huma.Operation{
		OperationID: "get-approval-config", Method: http.MethodGet, Path: toolPath + "/config", Tags: toolTags,
		Summary: "See which tools need approval", Errors: []int{401},
	}, a.toolConfig)
	register(a, Admins, huma.Operation{
		OperationID: "change-approval-config", Method: http.MethodPut, Path: toolPath + "/config", Tags: toolTags,
		Summary:     "Change which tools need approval",
		Description: "What is left out stays unchanged, but a switch that is sent without an end has none. A change is a new version of the policy with the same rules.",
		Errors:      []int{401, 403, 413, 422, 503},
	}, a.changeToolConfig)
	register(a, Admins, huma.Operation{
		OperationID: "cleanup-approvals", Method: http.MethodPost, Path: toolPath + "/cleanup", Tags: toolTags,
		Summary: "Record now what has expired", Errors: []int{401, 403, 503},
	}, a.cleanup)
}

// ConfigChange changes those fields that are sent.
type ConfigChange struct {
	RequiredApprovalTools optionalMember[[]string] `json:"required_approval_tools,omitzero"`
	DefaultTimeoutMinutes optionalMember[int]      `json:"default_timeout_minutes,omitzero"`
	FallbackAutoApprove   optionalMember[bool]     `json:"fallback_auto_approve,omitzero"`
	ApprovalEnabled       optionalMember[bool]     `json:"approval_enabled,omitzero"`

	ApprovalOffUntil optionalMember[time.Time] `json:"approval_off_until,omitzero" doc:"Ends approval_enabled: false, from 1 minute to 30 days from now"`
	FallbackUntil    optionalMember[time.Time] `json:"fallback_until,omitzero" doc:"Ends fallback_auto_approve: true, from 1 minute to 30 days from now"`
}

type toolConfigIn struct {
	caller
}

type toolConfigOut struct {
	Body *wire.ApprovalConfig
}

func (a *API) toolConfig(ctx context.Context, _ *toolConfigIn) (*toolConfigOut, error) {
	v, err := a.store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	return &toolConfigOut{Body: configFields(v.Program.Document(), a.store.Now())}, nil
}

type changeToolConfigIn struct {
	caller

	Body ConfigChange
}

func (a *API) changeToolConfig(ctx context.Context, in *changeToolConfigIn) (*toolConfigOut, error) {
	if err := in.Body.check(); err != nil {
		return nil, err
	}
	v, err := a.store.ChangePolicy(ctx, in.actor, "Changed through "+toolPath+"/config.", in.Body.apply)
	if err != nil {
		return nil, err
	}
	return &toolConfigOut{Body: configFields(v.Program.Document(), a.store.Now())}, nil
}

type cleanupIn struct {
	caller
}

type cleanupOut struct {
	Body *wire.CleanupResult
}

func (a *API) cleanup(ctx context.Context, in *cleanupIn) (*cleanupOut, error) {
	n, err := a.store.Cleanup(ctx, in.actor)
	if err != nil {
		return nil, err
	}
	return &cleanupOut{Body: &wire.CleanupResult{Expired: n}}, nil
}

// configFields are the fields as they count at a time.
func configFields(d policy.Document, at time.Time) *wire.ApprovalConfig {
	d, _, _ = d.Ended(at)
	return &wire.ApprovalConfig{
		RequiredApprovalTools: d.RequiredApprovalTools, DefaultTimeoutMinutes: d.DefaultTimeoutMinutes,
		FallbackAutoApprove: d.FallbackAutoApprove, ApprovalEnabled: d.ApprovalEnabled,
		ApprovalOffUntil: d.ApprovalOffUntil, FallbackUntil: d.FallbackUntil,
	}
}

func (c *ConfigChange) check() error {
	for field, null := range map[string]bool{
		"required_approval_tools": c.RequiredApprovalTools.null, "default_timeout_minutes": c.DefaultTimeoutMinutes.null,
		"fallback_auto_approve": c.FallbackAutoApprove.null, "approval_enabled": c.ApprovalEnabled.null,
		"approval_off_until": c.ApprovalOffUntil.null, "fallback_until": c.FallbackUntil.null,
	} {
		if null {
			return models.Invalid(field, "must not be null; leave it out to keep it")
		}
	}
	return nil
}

func (c *ConfigChange) apply(d *policy.Document) {
	c.RequiredApprovalTools.to(&d.RequiredApprovalTools)
	c.DefaultTimeoutMinutes.to(&d.DefaultTimeoutMinutes)
	applySwitch(c.FallbackAutoApprove, c.FallbackUntil, &d.FallbackAutoApprove, &d.FallbackUntil)
	applySwitch(c.ApprovalEnabled, c.ApprovalOffUntil, &d.ApprovalEnabled, &d.ApprovalOffUntil)
}

// applySwitch sets a switch and its end. A bare value has no end, also where there was one.
func applySwitch(flag optionalMember[bool], until optionalMember[time.Time], on *bool, end **time.Time) {
	if flag.set {
		*on, *end = flag.value, nil
	}
	if until.set {
		*end = &until.value
	}
}

// optionalMember is a member that may be left out. Null is not the same as left out: it
// could be taken for false or for nothing.
type optionalMember[T any] struct {
	value     T
	set, null bool
}

func (g *optionalMember[T]) to(field *T) {
	if g.set {
		*field = g.value
	}
}

// UnmarshalJSONFrom reads the value, if there is one.
func (g *optionalMember[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if g.null = dec.PeekKind() == 'n'; g.null {
		return dec.SkipValue()
	}
	g.set = true
	return json.UnmarshalDecode(dec, &g.value)
}

// Schema describes it in the document as its value.
func (optionalMember[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
