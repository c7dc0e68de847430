package client

import (
	"context"
	"net/http"
	"strconv"

	"countersign/handlers/api/wire"
)

// Policy is the active version of the policy. It takes an admin's token.
func (c *Client) Policy(ctx context.Context) (*wire.PolicyVersion, error) {
	var out wire.PolicyVersion
	if err := c.send(ctx, http.MethodGet, "/v1/policy", nil, &out, 0); err != nil {
		return nil, err
	}
	return &out, nil
}

// ChangePolicy makes a document the next version. base is the version that it was made
// from: if another is active, nothing is changed (precondition_failed).
func (c *Client) ChangePolicy(ctx context.Context, base int64, change wire.PolicyChange) (*wire.PolicyVersion, error) {
	timeLimit, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	req, err := c.request(timeLimit, http.MethodPut, "/v1/policy", change)
	if err != nil {
		return nil, err
	}
	req.Header.Set("If-Match", `"`+strconv.FormatInt(base, 10)+`"`)
	var out wire.PolicyVersion
	if err := c.exchange(ctx, req, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// LintPolicy returns the errors and warnings of a document.
func (c *Client) LintPolicy(ctx context.Context, document wire.PolicyDocument) (*wire.PolicyLinted, error) {
	var out wire.PolicyLinted
	if err := c.send(ctx, http.MethodPost, "/v1/policy/lint", document, &out, 0); err != nil {
		return nil, err
	}
	return &out, nil
}
