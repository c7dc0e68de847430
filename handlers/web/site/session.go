package site

import (
	"net/http"
	"net/url"

	"github.com/gorilla/sessions"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
)

// sessionDays is how long a browser keeps the cookie. The session itself ends
// earlier when it is idle; its row says so.
const sessionDays = 14

// DeviceDays is how long a browser is known as one in which somebody has signed in.
const DeviceDays = 365

// CookieKind is how cookies are named and marked, by where the server is used.
type CookieKind struct {
	Name   string
	Secure bool
}

// cookieFor marks cookies Secure unless people reach the server by plain HTTP on
// this machine. The prefix has browsers refuse one that another host set.
func cookieFor(public *url.URL) CookieKind {
	if public.Scheme == "http" && handlers.IsLoopback(public.Hostname()) {
		return CookieKind{Name: "countersign"}
	}
	return CookieKind{Name: "__Host-countersign", Secure: true}
}

// Device names the cookie by which a browser is known as one in which somebody has
// signed in. It opens nothing.
func (k CookieKind) Device() string { return k.Name + "-device" }

// Cookie is a cookie of this kind; a negative age takes it away.
func (k CookieKind) Cookie(name, value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure off loopback: see cookieFor
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: k.Secure, SameSite: http.SameSiteLaxMode,
	}
}

// What a session's values hold for the length of one request.
type (
	actorKey struct{}
	userKey  struct{}
)

// sessionCookies is a sessions.Store whose cookie holds nothing but the opaque secret: the database knows whose it is,
// and can revoke it.
type sessionCookies struct {
	store *store.Store
	kind  CookieKind
}

var _ sessions.Store = (*sessionCookies)(nil)

// Get returns the session of a request, looked up once.
func (s *sessionCookies) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, name)
}

// New looks up whose session the cookie names. Without one that holds, the
// session is new and empty; an error means that the database did not answer.
func (s *sessionCookies) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(s, name)
	session.IsNew = true
	cookie, err := r.Cookie(name)
	if err != nil {
		return session, nil //nolint:nilerr // no cookie is no session
	}
	actor, user, err := s.store.People.AuthenticateSession(r.Context(), cookie.Value)
	switch {
	case models.ErrorCode(err) == models.CodeUnauthenticated:
		return session, nil
	case err != nil:
		return session, err
	}
	session.ID, session.IsNew = cookie.Value, false
	session.Values[actorKey{}], session.Values[userKey{}] = actor, user
	return session, nil
}

// Save gives the browser the session's secret, or takes it away when the session
// has none.
func (s *sessionCookies) Save(_ *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	maxAge := sessionDays * 24 * 60 * 60
	if session.ID == "" {
		maxAge = -1
	}
	http.SetCookie(w, s.kind.Cookie(session.Name(), session.ID, maxAge))
	return nil
}
