package models_test

import (
	"strings"
	"testing"

	"countersign/models"
)

func TestMixedScripts(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"release-bot":                "",
		"Bücher größer":              "",
		"Миграция PostgreSQL":        "",
		"東京タワー Tower です":             "",
		"한국어 漢字 Latin":               "",
		"ㄅㄆ漢字":                       "",
		"αβγ":                        "",
		"100 €":                      "",
		"12 μs at 3 kΩ, Δx":          "",
		"":                           "",
		"rele\u0430se-bot":           "Cyrillic Latin", // a Cyrillic a
		"\u0391dmin":                 "Greek Latin",
		"p\u0585st":                  "Armenian Latin",
		"漢Жя":                        "Cyrillic Han",
		"please сору":                "Cyrillic Latin", // a word that only looks like copy
		"\u13a1olex":                 "Cherokee Latin",
		"Nordl\u0131cht Hosting":     "Latin", // a letter without its dot
		"Bob and \u01c0\u01c0\u01c0": "Latin", // clicks that look like strokes
		strings.Repeat("ж", 99):      "",
	} {
		got, mixed := models.MixedScripts(s)
		if strings.Join(got, " ") != want || mixed != (want != "") {
			t.Errorf("%q: %v %v, want %q", s, got, mixed, want)
		}
	}
}

func TestLookAlikeHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.org":           "",
		"EXAMPLE.org":           "",
		"127.0.0.1":             "",
		"::1":                   "",
		"[2001:db8::1]":         "",
		"a-b.c0.example":        "",
		"xn--80ak6aa92e.com":    "“аррӏе” (sent as xn--80ak6aa92e) looks like “apple” and is written in Cyrillic letters",
		"аррӏе.com":             "“аррӏе” looks like “apple” and is written in Cyrillic letters",
		"p\u0430ypal.com":       "“p\u0430ypal” mixes Cyrillic and Latin letters",
		"xn--pypal-4ve.com":     "“p\u0430ypal” (sent as xn--pypal-4ve) mixes Cyrillic and Latin letters",
		"bücher.example":        "“bücher” has letters beyond ASCII",
		"xn--bcher-kva.example": "“bücher” (sent as xn--bcher-kva) has letters beyond ASCII",
		"例え.jp":                 "“例え” has letters beyond ASCII",
		"xn--!.com":             `"xn--!" looks like an encoded name but is not one`,
		"xn--99999999.com":      `"xn--99999999" looks like an encoded name but is not one`,
		"XN--PYPAL-4VE.com":     "“p\u0430ypal” (sent as xn--pypal-4ve) mixes Cyrillic and Latin letters",
		"xn--example-.com":      `"xn--example-" looks like an encoded name but is not one`, // decodes to ASCII alone
		"xn---gdyhz.com":        `"xn---gdyhz" looks like an encoded name but is not one`,   // nothing before the hyphen
		// No registry takes these. They must be shown all the same.
		"xn--ls8h.example":   "“💩” (sent as xn--ls8h) has letters beyond ASCII",
		"xn--a-ecp.example":  "“a\u2488” (sent as xn--a-ecp) has letters beyond ASCII",
		"xn--ab-j1t.example": "“a\u200cb” (sent as xn--ab-j1t) has letters beyond ASCII",
		"a。b.com":            "it contains a character that looks like a dot or a slash but is not one",
		"2130706433":         "it is a numeric address in an unusual form",
		"0x7f.1":             "it is a numeric address in an unusual form",
		"0177.0.0.1":         "it is a numeric address in an unusual form",
	} {
		why, suspicious := models.LookAlike(host)
		if why != want || suspicious != (want != "") {
			t.Errorf("%q: %q %v, want %q", host, why, suspicious, want)
		}
	}
}

func FuzzLookAlike(f *testing.F) {
	f.Add("xn--80ak6aa92e.com")
	f.Fuzz(func(_ *testing.T, host string) {
		models.LookAlike(host)
		models.MixedScripts(host)
	})
}
