package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestPagesNeedNoInlineScriptOrStyle(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for name, p := range webtest.EveryPage(w) {
		csp := p.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'self'", "form-action 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", name, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", name, csp)
		}
		for h, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := p.Header.Get(h); got != want {
				t.Errorf("%s: %s is %q", name, h, got)
			}
		}
		if p.Header.Get("Permissions-Policy") == "" {
			t.Errorf("%s: no Permissions-Policy", name)
		}
		p.Doc.Find("style, script:not([src]), [style], iframe, object, embed, base").Each(func(_ int, s *goquery.Selection) {
			t.Errorf("%s: inline: %s", name, goquery.NodeName(s))
		})
		p.Doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			for _, a := range s.Nodes[0].Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") || strings.Contains(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: %s has %s=%q", name, goquery.NodeName(s), a.Key, a.Val)
				}
			}
		})
		p.Doc.Find("script[src], link[href], img[src]").Each(func(_ int, s *goquery.Selection) {
			if at := s.AttrOr("src", s.AttrOr("href", "")); !strings.HasPrefix(at, "/static/") {
				t.Errorf("%s: loads %q", name, at)
			}
		})
		if len(p.Body) > 72<<10 {
			t.Errorf("%s: %d bytes", name, len(p.Body))
		}
	}
}

func TestWhatPagesLoadIsServedForEver(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	v := w.Visitor()
	found := 0
	v.Get("/signin").Doc.Find("script[src], link[href]").Each(func(_ int, s *goquery.Selection) {
		found++
		at := s.AttrOr("src", s.AttrOr("href", ""))
		plain := v.Get(at, webtest.Header{"Accept-Encoding", "identity"}).Is(http.StatusOK)
		if got := plain.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") || !strings.Contains(got, "max-age=31536000") {
			t.Errorf("%s: Cache-Control %q", at, got)
		}
		packed := v.Get(at, webtest.Header{"Accept-Encoding", "br, gzip"}).Is(http.StatusOK)
		if packed.Header.Get("Content-Encoding") != "gzip" {
			if len(plain.Body) > 2000 {
				t.Errorf("%s: %d bytes are not packed", at, len(plain.Body))
			}
			return
		}
		r, err := gzip.NewReader(strings.NewReader(packed.Body))
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(r); err != nil || string(content) != plain.Body {
			t.Errorf("%s: packed and plain differ (%v)", at, err)
		}
	})
	if found < 5 {
		t.Errorf("only %d files", found)
	}
	v.Get("/static/js/nothing.js").Is(http.StatusNotFound)
	v.Get("/static/../setup").Is(http.StatusNotFound)
}

func TestI13WhatAgentsWriteStaysText(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	evil := `</textarea></pre><script src="/x"></script><img src=x onerror=alert(1)>` + "\u202e\u200b"
	a := w.Ask(func(in *models.AskInput) {
		in.Description, in.Context, in.Input = evil, evil, []byte(`{"command":"</code></textarea><script src='/y'>"}`)
	})
	q := w.Ask(webtest.Question, func(in *models.AskInput) {
		in.Description = evil
		in.Options = []models.Option{{Name: `"><script src=/z>`, Title: evil}}
	})
	p := w.SignIn(webtest.OwnerEmail)
	for _, path := range []string{"/", webtest.PageOf(a), webtest.PageOf(q), "/audit", "/account/sessions"} {
		got := p.Get(path).Is(http.StatusOK)
		if n := got.Doc.Find("script[src='/x'], script[src='/y'], script[src='/z'], img").Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", path, n)
		}
		if strings.ContainsAny(got.Body, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", path)
		}
	}
}
