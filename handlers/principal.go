package handlers

import (
	"context"
	"net/http"
	"strings"

	"countersign/models"
)

// Authenticator knows what a bearer token stands for; models/store does.
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
// tokens and never cookies: it carries one, or its path is an API's.
func WantsBearer(r *http.Request) bool {
	if _, ok := BearerToken(r.Header.Get("Authorization")); ok {
		return true
	}
	for _, root := range [...]string{"/v1", "/api", "/mcp", "/hooks", "/humanlayer"} {
		if rest, ok := strings.CutPrefix(r.URL.Path, root); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
