package handlers

import (
	"context"
	"net/http"
	"strings"

	"countersign/models"
)

// Authenticator knows the actor of a bearer token; models/store does.
type Authenticator interface {
	AuthenticateToken(ctx context.Context, secret string) (models.Actor, error)
}

// BearerToken is the token of an Authorization header, or false if there is
// none. Cookies are never looked at.
func BearerToken(header string) (string, bool) {
	const scheme = "Bearer "
	if len(header) <= len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	return strings.TrimSpace(header[len(scheme):]), true
}

// Principal is who sends a request, from its bearer token and nothing else
// (I5): CodeUnauthenticated without a token that holds.
func Principal(ctx context.Context, auth Authenticator, authorization string) (models.Actor, error) {
	token, ok := BearerToken(authorization)
	if !ok {
		return models.Actor{}, models.Errorf(models.CodeUnauthenticated,
			"A bearer token is needed: Authorization: Bearer TOKEN.")
	}
	return auth.AuthenticateToken(ctx, token)
}

// WantsBearer reports whether a request belongs to the router that reads bearer
// tokens and never cookies: it carries one, or its path is an API's, or it is
// an API's and the pages' and a program asks.
func WantsBearer(r *http.Request) bool {
	if _, ok := BearerToken(r.Header.Get("Authorization")); ok {
		return true
	}
	for _, root := range [...]string{"/v1", "/api", "/mcp", "/hooks", "/humanlayer", "/message"} {
		if under(r.URL.Path, root) {
			return true
		}
	}
	return under(r.URL.Path, "/conversations") && !fromBrowser(r)
}

// under reports whether a path is root or lies below it.
func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

// fromBrowser reports whether a page is wanted: by a browser that says so, or
// has signed in, and does not ask for JSON. A program without a token is to
// hear that it lacks one, and not of a sign-in page.
func fromBrowser(r *http.Request) bool {
	h := r.Header
	if WantsJSON(r) || strings.HasPrefix(h.Get("Content-Type"), "application/json") {
		return false
	}
	return strings.Contains(h.Get("Accept"), "text/") || h.Get("Cookie") != "" || h.Get(headerHXRequest) != "" ||
		h.Get("Sec-Fetch-Mode") != ""
}
