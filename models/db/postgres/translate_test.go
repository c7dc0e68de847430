package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models/db"
	"countersign/models/db/postgres"
)

// Each form that models/db/dialect.go writes, in PostgreSQL's language.
func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ours, theirs, places string }{
		{`SELECT a FROM t WHERE b = ? AND c = ?`, `SELECT a FROM t WHERE b = $1 AND c = $2`, `1 2`},
		{`SELECT a FROM t WHERE b = ?2 OR c = ?1 OR d = ?2`, `SELECT a FROM t WHERE b = $1 OR c = $2 OR d = $1`, `2 1`},
		{`SELECT :me = '' OR a = :me`, `SELECT $1 = '' OR a = $1`, `me`},
		{"SELECT `a`, '?', \"b?\" -- ?\n FROM t", `SELECT "a", '?', "b?" FROM t`, ``},
		{`SELECT a FROM t` + db.ByResponsesHeld + ` WHERE b = 1`, `SELECT a FROM t WHERE b = 1`, ``},
		{db.InsertNew + `t (a) VALUES (?) RETURNING a`, `INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING RETURNING a`, `1`},
		{db.InsertNew + `t (a) VALUES (?)`, `INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING`, `1`},
		{`INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = excluded.b`, `INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = excluded.b`, `1`},
		{`SELECT a IS NULL, a IS NOT NULL, a IS b, a IS NOT ?`, `SELECT a IS NULL, a IS NOT NULL, a IS NOT DISTINCT FROM b, a IS DISTINCT FROM $1`, `1`},
		{
			`SELECT r.a FROM ` + db.Each(`?`) + ` CROSS JOIN t r ON r.id = j.value`,
			`SELECT r.a FROM (SELECT value FROM jsonb_array_elements_text(CAST($1 AS jsonb)) AS of(value)) j JOIN t r ON r.id = j.value`, `1`,
		},
		{
			`SELECT r.a FROM ` + db.EachNumber(`?`) + ` CROSS JOIN t r ON r.number = jn.value` + db.InListOrder,
			`SELECT r.a FROM (SELECT CAST(value AS bigint) AS value, place FROM jsonb_array_elements_text(CAST($1 AS jsonb)) WITH ORDINALITY AS of(value, place)) jn JOIN t r ON r.number = jn.value ORDER BY jn.place`, `1`,
		},
		{
			`SELECT a FROM t WHERE b` + db.Within(`?`),
			`SELECT a FROM t WHERE b IN (SELECT value FROM (SELECT value FROM jsonb_array_elements_text(CAST($1 AS jsonb)) AS of(value)) each)`, `1`,
		},
		{`SELECT ` + db.Contains(`lower(a)`, `lower(?)`), `SELECT (strpos(lower(a), lower($1)) > 0)`, `1`},
		{`SELECT ` + db.HasPrefix(`a`, `token_`), `SELECT a ^@ 'token_'`, ``},
		{`SELECT ` + db.NotBy(`r.a`) + `, b + 1, (a) + 1`, `SELECT r.a, b + 1, (a) + 1`, ``},
		{`SELECT ` + db.DayAfter(`a`), `SELECT (a + interval '1 day')`, ``},
		{`SELECT ` + db.Lesser(`a`, `b`) + `, max(c), max(a, b)`, `SELECT least(a, b), max(c), greatest(a, b)`, ``},
		{`SELECT ` + db.Joined(`a`), `SELECT string_agg(CAST(a AS text), ' ')`, ``},
		{`SELECT ` + db.JSONMember(`a`, `b`), `SELECT (CAST(nullif(a, '') AS jsonb) ->> 'b')`, ``},
		{`SELECT a FROM (SELECT b FROM t) WHERE c = (SELECT 1)`, `SELECT a FROM (SELECT b FROM t) AS t1 WHERE c = (SELECT 1)`, ``},
		{`SELECT a FROM (SELECT b FROM t) k WHERE c = x'0a'`, `SELECT a FROM (SELECT b FROM t) k WHERE c = '\x0a'`, ``},
	} {
		got, err := postgres.Translate(c.ours)
		if err != nil {
			t.Errorf("%s: %v", c.ours, err)
			continue
		}
		if got.Text != c.theirs {
			t.Errorf("%s\n got %s\nwant %s", c.ours, got.Text, c.theirs)
		}
		var places []string
		for _, p := range got.Places {
			if p.Name == "" {
				p.Name = fmt.Sprint(p.Number)
			}
			places = append(places, p.Name)
		}
		if strings.Join(places, " ") != c.places {
			t.Errorf("%s: places %v, want %s", c.ours, places, c.places)
		}
	}
}

// What can't be read is refused, and not sent as it is.
func TestTranslateRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`SELECT (a`, `SELECT a)`, `SELECT 'a`, `SELECT a GLOB '*a*'`, `SELECT datetime(a, '+2 day')`, `SELECT json_extract(a)`,
		`SELECT json_object('a')`, `SELECT instr(a)`,
	} {
		if got, err := postgres.Translate(text); err == nil {
			t.Errorf("%s became %s", text, got.Text)
		}
	}
}
