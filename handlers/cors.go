package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Origins are the web pages elsewhere that may use the API with a bearer token: exact
// origins, as browsers send them.
type Origins []string

// ParseOrigins reads a list such as https://app.example.com,http://localhost:5173.
func ParseOrigins(list string) (Origins, error) {
	var out Origins
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		u, err := url.Parse(one)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
			u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, errors.New("must be origins such as https://app.example.com, with commas between them; there is no *")
		}
		host := strings.ToLower(u.Host)
		host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
		out = append(out, u.Scheme+"://"+host)
	}
	return out, nil
}

const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Last-Event-ID, If-Match, Countersign-Fallback"
	corsExposed = "Location, Retry-After, ETag, Countersign-Fallback, " + headerRequestID
)

// Wrap lets pages of these origins use the surfaces that take bearer tokens. Cookies are never
// asked for: without Access-Control-Allow-Credentials a browser that sends any hides the
// answer, and the API's router reads none. Whatever else is served stays closed.
func (o Origins) Wrap(public *url.URL, next http.Handler) http.Handler {
	if len(o) == 0 {
		return next
	}
	own := ""
	if public != nil {
		own = strings.ToLower(public.Hostname())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !forPages(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		h, origin := w.Header(), r.Header.Get("Origin")
		h.Add("Vary", "Origin")
		if !slices.Contains(o, origin) || !ownHost(r, own) {
			next.ServeHTTP(w, r)
			return
		}
		_, bearer := BearerToken(r.Header.Get("Authorization"))
		switch {
		case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers", corsHeaders)
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		case bearer:
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", corsExposed)
		}
		next.ServeHTTP(w, r)
	})
}

// forPages reports whether a path is of a surface that pages elsewhere may use.
func forPages(path string) bool {
	for _, root := range [...]string{"/v1", "/api", "/message", "/conversations"} {
		if under(path, root) {
			return true
		}
	}
	return false
}
