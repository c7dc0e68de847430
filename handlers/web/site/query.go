package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"countersign/models"
)

// Target is the id of the element that a fragment is for.
func Target(r *http.Request) string {
	_, id, _ := strings.Cut(r.Header.Get("Hx-Target"), "#")
	return id
}

// ReadID is an id in an address; empty, with an entry in faults, if it is malformed.
func ReadID[T ~string](q url.Values, name string, faults map[string]string) T {
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

// EmptyMembers reports whether a form left members of an address empty: the
// address without them names the same place.
func EmptyMembers(q url.Values) bool {
	for _, values := range q {
		if len(values) == 1 && values[0] == "" {
			return true
		}
	}
	return false
}

// IDOf finds the id of the person with an e-mail; it returns an id unchanged.
func (s *Site) IDOf(ctx context.Context, actor models.Actor, who string) (string, error) {
	if who == "" {
		return "", nil
	}
	if !strings.Contains(who, "@") {
		id, err := models.ParseID[models.UserID]("who", who)
		return string(id), err
	}
	user, err := s.Store.People.UserByEmail(ctx, actor, who)
	if models.ErrorCode(err) == models.CodeNotFound {
		return "", models.Invalid("who", "nobody on this server has this e-mail")
	}
	if err != nil {
		return "", err
	}
	return string(user.ID), nil
}
