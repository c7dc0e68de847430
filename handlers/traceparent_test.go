package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// TestALineNamesTheTraceOfItsCaller, if the caller sent one that is valid, and never what is not.
func TestALineNamesTheTraceOfItsCaller(t *testing.T) {
	t.Parallel()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	valid := "00-" + trace + "-" + parent + "-01"
	for name, tt := range map[string]struct {
		sent []string
		want any // nil: no trace
	}{
		"none":                        {nil, nil},
		"valid":                       {[]string{valid}, trace},
		"not sampled":                 {[]string{"00-" + trace + "-" + parent + "-00"}, trace},
		"a later version":             {[]string{"cc-" + trace + "-" + parent + "-01"}, trace},
		"a later version, longer":     {[]string{"cc-" + trace + "-" + parent + "-01-more"}, trace},
		"a later version, run on":     {[]string{"cc-" + trace + "-" + parent + "-01more"}, nil},
		"the first version, longer":   {[]string{valid + "-more"}, nil},
		"the version that is no one":  {[]string{"ff-" + trace + "-" + parent + "-01"}, nil},
		"empty":                       {[]string{""}, nil},
		"too short":                   {[]string{valid[:54]}, nil},
		"endless":                     {[]string{valid + strings.Repeat("0", 8000)}, nil},
		"no trace":                    {[]string{"00-" + strings.Repeat("0", 32) + "-" + parent + "-01"}, nil},
		"no parent":                   {[]string{"00-" + trace + "-" + strings.Repeat("0", 16) + "-01"}, nil},
		"capital letters":             {[]string{"00-" + strings.ToUpper(trace) + "-" + parent + "-01"}, nil},
		"letters that are no digits":  {[]string{"00-" + trace[:31] + "g-" + parent + "-01"}, nil},
		"a flag that is no digit":     {[]string{"00-" + trace + "-" + parent + "-0x"}, nil},
		"a version that is no number": {[]string{"0\x1b-" + trace + "-" + parent + "-01"}, nil},
		"a line's end":                {[]string{"00-" + trace[:31] + "\n-" + parent + "-01"}, nil},
		"other marks":                 {[]string{strings.ReplaceAll(valid, "-", "_")}, nil},
		"two":                         {[]string{valid, valid}, nil},
	} {
		k, log := kit()
		e := k.Router(k.FailJSON)
		e.GET("/", func(c echo.Context) error {
			k.Log.WarnContext(c.Request().Context(), "from within")
			return c.NoContent(http.StatusInternalServerError)
		})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Host = "sign.example.com"
		if tt.sent != nil {
			r.Header["Traceparent"] = tt.sent
		}
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, r)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("%s: %d lines: %s", name, len(lines), log)
		}
		for _, line := range lines {
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if id := rec.Header().Get("X-Request-Id"); got["trace_id"] != tt.want || got["request_id"] != id || strings.Count(line, id) != 1 {
				t.Errorf("%s: %s, want the trace %v and the request %s", name, line, tt.want, id)
			}
		}
		if len(rec.Header()) != 2 || rec.Header().Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: the answer says more: %v", name, rec.Header())
		}
	}
}
