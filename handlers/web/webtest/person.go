package webtest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"countersign/models/storetest"
)

// Person is one browser. It follows no redirect.
type Person struct {
	World *World
	HTTP  *http.Client
}

// Header is one header line of a request.
type Header [2]string

// Headers that tell what a request is from.
var (
	HTMX = Header{"HX-Request", "true"}
	JSON = Header{"Accept", "application/json"}
)

// Visitor is a browser without a session.
func (w *World) Visitor() *Person {
	w.TB.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.TB.Fatal(err)
	}
	return &Person{World: w, HTTP: &http.Client{
		Jar: jar, Timeout: Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// SignIn is a browser in which somebody has signed in.
func (w *World) SignIn(email string) *Person {
	w.TB.Helper()
	p := w.Visitor()
	got := p.Post("/signin", url.Values{"email": {email}, "password": {storetest.Password}})
	got.Redirects("/")
	return p
}

// Get reads a page.
func (p *Person) Get(path string, headers ...Header) *Page {
	p.World.TB.Helper()
	return p.Send(http.MethodGet, path, nil, headers...)
}

// Post sends a form.
func (p *Person) Post(path string, form url.Values, headers ...Header) *Page {
	p.World.TB.Helper()
	return p.Send(http.MethodPost, path, form, headers...)
}

// Send sends a request with any method.
func (p *Person) Send(method, path string, form url.Values, headers ...Header) *Page {
	p.World.TB.Helper()
	req, err := http.NewRequestWithContext(p.World.TB.Context(), method, p.World.URL+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		p.World.TB.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		req.Header.Set(h[0], h[1])
	}
	resp, err := p.HTTP.Do(req)
	if err != nil {
		p.World.TB.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.World.TB.Fatalf("%s %s: %v", method, path, err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	if err != nil {
		p.World.TB.Fatalf("%s %s: %v", method, path, err)
	}
	doc.Find("template").Empty() // on no page until a script takes it
	return &Page{
		TB: p.World.TB, Asked: method + " " + path, Status: resp.StatusCode, Header: resp.Header, Body: string(body),
		Doc: doc, Cookies: resp.Cookies(),
	}
}
