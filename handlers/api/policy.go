package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
)

var policyTags = []string{"Policy"}

func (a *API) registerPolicy() {
	register(a, PolicyReaders, huma.Operation{
		OperationID: "get-policy", Method: http.MethodGet, Path: "/v1/policy", Tags: policyTags,
		Summary:     "Read the policy",
		Description: "The active version. Its ETag is what If-Match takes when it is changed.",
		Errors:      []int{401, 403, 503},
	}, a.policy)
	register(a, Admins, huma.Operation{
		OperationID: "change-policy", Method: http.MethodPut, Path: "/v1/policy", Tags: policyTags,
		Summary: "Make a new version of the policy",
		Description: "The document replaces the active one. If-Match names the version that was changed: without it 428, and if another version is active 412 and nothing is changed. " +
			"A document that is not valid is 422, with each fault at its path. A document that changes nothing makes no version.",
		Errors: []int{401, 403, 412, 413, 422, 428, 503},
	}, a.changePolicy)
}

type policyIn struct {
	caller
}

type policyOut struct {
	ETag string `header:"ETag"`
	Body *wire.PolicyVersion
}

func (a *API) policy(ctx context.Context, _ *policyIn) (*policyOut, error) {
	v, err := a.store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	return policyVersionOf(v)
}

type changePolicyIn struct {
	caller

	IfMatch string `header:"If-Match" doc:"The ETag of the version that was changed, or * for whichever is active"`
	Body    wire.PolicyChange
}

func (a *API) changePolicy(ctx context.Context, in *changePolicyIn) (*policyOut, error) {
	if in.IfMatch == "" {
		return nil, models.Errorf(models.CodePreconditionRequired,
			"If-Match is required: the ETag of the version that you changed, from GET /v1/policy.")
	}
	if len(in.Body.Document) == 0 {
		return nil, models.Invalid("document", "must be the whole document of the policy")
	}
	if strings.TrimSpace(in.Body.Note) == "" {
		return nil, models.Invalid("note", "must say why: it is shown with the version")
	}
	base, err := a.matched(ctx, in.IfMatch)
	if err != nil {
		return nil, err
	}
	v, err := a.store.ApplyPolicy(ctx, in.actor, in.Body.Document, in.Body.Note, base)
	if e, ok := errors.AsType[*models.Error](err); ok && e.Code == models.CodeConflict {
		return nil, anotherStands()
	}
	if err != nil {
		return nil, err
	}
	return policyVersionOf(v)
}

// matched is the version that If-Match names; 0: any version.
func (a *API) matched(ctx context.Context, header string) (int64, error) {
	if strings.TrimSpace(header) == "*" {
		return 0, nil
	}
	v, err := a.store.CurrentPolicy(ctx)
	if err != nil {
		return 0, err
	}
	for tag := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(tag) == etag(v.Version) {
			return v.Version, nil
		}
	}
	return 0, anotherStands()
}

func anotherStands() error {
	return models.Errorf(models.CodePreconditionFailed,
		"If-Match does not name the active version of the policy. Read it, and make your change to it.")
}

func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

func policyVersionOf(v store.PolicyVersion) (*policyOut, error) {
	document, err := v.Program.Document().Marshal()
	if err != nil {
		return nil, err
	}
	return &policyOut{ETag: etag(v.Version), Body: &wire.PolicyVersion{
		Version: v.Version, Document: jsontext.Value(document), Author: v.AuthorName, Note: v.Note, SavedAt: v.CreatedAt,
	}}, nil
}

// policyDocs are the operations of the policy.
func policyDocs() map[string]operationDoc {
	document := jsontext.Value(`{"unmatched":"require","rules":[{"name":"payments","tools":["/^payment\\./"],"effect":"require","risk":"high"}]}`)
	example := &wire.PolicyVersion{
		Version: 7, Document: document, Author: "Ada Lovelace", Note: "payments need a person", SavedAt: exampleTime,
	}
	return map[string]operationDoc{
		"get-policy": {answers: map[int]any{200: example}},
		"change-policy": {
			requests: map[string]any{"document": &wire.PolicyChange{Document: document, Note: "payments need a person"}},
			answers:  map[int]any{200: example},
			problems: []models.Code{models.CodePreconditionFailed, models.CodePreconditionRequired},
		},
	}
}
