package upstream_test

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"countersign/workers/upstream"
)

func TestTheUpstreamsOwnWordsWithoutTheKey(t *testing.T) {
	t.Parallel()
	const odd = `k"\/+<>&' ~0f4c`
	oddKey := strings.ReplaceAll(odd, " ", "_")
	long := strings.Repeat("é", 1500)
	for _, c := range []struct{ what, key, body, want string }{
		{"nothing", key, ``, ``},
		{"a message", key, `{"error":{"message":"the run is over","code":"late"}}`, `the run is over`},
		{"a problem", key, `{"type":"about:blank","title":"the run is over","status":422}`, `the run is over`},
		{"a text", key, `"the run is over"`, `the run is over`},
		{"more than a message", key, `{"message":"no", "fields":{"reason":"too short"}}`, `{"message":"no","fields":{"reason":"too short"}}`},
		{"two messages", key, `{"title":"no","detail":"the run is over"}`, `{"title":"no","detail":"the run is over"}`},
		{"no JSON", key, "<h1>no\u202e</h1>\xff", "<h1>no\u202e</h1>\ufffd"},
		{"the key", key, `{"message":"Bearer ` + key + ` may not"}`, `Bearer [key] may not`},
		{"the key, escaped", key, `{"message":"\u006bey-0f4c7a91 may not"}`, `[key] may not`},
		{"the key in no JSON", key, `no: ` + key + key, `no: [key][key]`},
		{"the key in base64", key, base64.StdEncoding.EncodeToString([]byte(key)), `[key]`},
		{"the key in hexadecimal", key, hex.EncodeToString([]byte(key)), `[key]`},
		{"an odd key in JSON", oddKey, `{"a":1,"b":"k\"\\/+\u003c\u003e\u0026'_~0f4c!"}`, `{"a":1,"b":"[key]!"}`},
		{"an odd key in an address", oddKey, `no: ` + url.QueryEscape(oddKey) + ` ` + url.PathEscape(oddKey), `no: [key] [key]`},
		{"a key at the cut", key, strings.Repeat("x", 995) + key + "!", strings.Repeat("x", 995) + `[key]… (the beginning of 1001 characters)`},
		{"much", key, long, strings.Repeat("é", 1000) + "… (the beginning of 1500 characters)"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(s.Close)
		o := client(t, upstream.Options{BaseURL: s.URL, Key: c.key, Dialect: upstream.Plain}).RespondCall(t.Context(), "c", true, "")
		if o.Delivery != upstream.Refused || o.Words != c.want {
			t.Errorf("%s: %q, want %q", c.what, o.Words, c.want)
		}
		if strings.Contains(o.Text+o.Words, c.key) {
			t.Errorf("%s: the key is told", c.what)
		}
	}
}
