package upstream_test

import (
	"testing"
	"time"

	"countersign/workers/upstream"
)

func TestFormsOfAMoment(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 30, 15, 0, time.UTC)
	micro := at.Add(123456 * time.Microsecond)
	for written, want := range map[string]time.Time{
		`"2026-11-20T11:30:15Z"`:                at,
		`"2026-11-20T11:30:15"`:                 at,
		`"2026-11-20T11:30:15.123456"`:          micro,
		`"2026-11-20T11:30:15,123456Z"`:         micro,
		`"2026-11-20T11:30:15.123456789+00:00"`: micro,
		`"2026-11-20 13:30:15.123456+02:00"`:    micro,
		`"2026-11-20T13:30:15+0200"`:            at,
		`"2026-11-20T13:30:15+02"`:              at,
		`"2026-11-20 11:30:15 UTC"`:             at,
		`"2026-11-20 13:30:15 +0200"`:           at,
		`" 2026-11-20t11:30:15z "`:              at,
		`"2026-11-20T11:30Z"`:                   at.Add(-15 * time.Second),
		`"2026-11-20 11:30"`:                    at.Add(-15 * time.Second),
		`"2026-11-20"`:                          time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		`"Fri, 20 Nov 2026 11:30:15 GMT"`:       at,
		`"Fri, 20 Nov 2026 13:30:15 +0200"`:     at,
		`1795174215`:                            at,
		`1795174215.123456`:                     micro,
		`1795174215123`:                         at.Add(123 * time.Millisecond),
		`1795174215123.456`:                     at.Add(123 * time.Millisecond),
		`1795174215123456`:                      micro,
		`1795174215123456789`:                   micro,
		`"1795174215"`:                          at,
		`0`:                                     {},
		`-5`:                                    {},
		`1e300`:                                 {},
		`"yesterday"`:                           {},
		`""`:                                    {},
		`"0001-01-01T00:00:00Z"`:                {},
		`"2026-13-40T25:61:61Z"`:                {},
		`{}`:                                    {},
		`true`:                                  {},
	} {
		l, err := saying(t, upstream.Plain, `[{"call_id":"a","spec":{"fn":"f"},"status":{"requested_at":`+written+`}}]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 || !l.Complete {
			t.Errorf("%s: %v %+v", written, err, l)
			continue
		}
		if got := l.Items[0].RequestedAt; !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s: %s, want %s", written, got, want)
		}
	}
}

// Moments are compared with the upstream's own clock (noon, in saying), whatever
// ours says.
func TestWhatIsLeftOfATimeout(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`"status":{"requested_at":"2026-11-20T11:59:00Z"},"timeout_seconds":300`: "4m0s",
		`"timeout_seconds":300`: "5m0s",
		`"status":{"requested_at":"2026-11-20T11:50:00Z"},"timeout_seconds":300`:              "-5m0s",
		`"status":{"requested_at":"2026-11-20T12:50:00Z"},"timeout_seconds":300`:              "5m0s",
		`"status":{"requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:00:30"}`: "30s",
		`"expires_at":"soon"`:     "",
		`"timeout_seconds":"300"`: "",
		`"timeout_seconds":-1`:    "",
		`"x":1`:                   "",
	} {
		l, err := saying(t, upstream.Plain, `[{"call_id":"a","spec":{"fn":"f"},`+item+`}]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 {
			t.Errorf("%s: %v %+v", item, err, l)
			continue
		}
		got := ""
		if left := l.Items[0].Timeout; left != nil {
			got = left.String()
		}
		if got != want {
			t.Errorf("%s: %q is left, want %q", item, got, want)
		}
	}
}
