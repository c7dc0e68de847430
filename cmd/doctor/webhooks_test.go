package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/webhooks"
)

// addWebhooks adds endpoints to a folder in which no server runs, and has each come to what is
// said of it. Their addresses have a part that nothing may tell.
func addWebhooks(t *testing.T, dir string, state map[string]webhooks.Progress, opts ...storetest.Option) {
	t.Helper()
	s := storetest.New(t, append([]storetest.Option{storetest.WithDir(dir)}, opts...)...)
	lease, err := s.Nodes.TakeLease(t.Context(), "webhooks", "me", time.Minute)
	storetest.Must(t, err)
	for name, p := range state {
		h, _, err := s.Webhooks.Add(t.Context(), storetest.Operator(), models.WebhookInput{Name: name, URL: "https://hooks.example.com/s3cret"})
		storetest.Must(t, err)
		if p.ID = h.ID; p.Cursor < 0 {
			p.Cursor = h.Cursor
		}
		_, err = s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{p})
		storetest.Must(t, err)
	}
	storetest.Must(t, s.Nodes.DropLease(t.Context(), lease))
	storetest.Must(t, s.Close())
}

func TestDoctorNamesWebhooks(t *testing.T) {
	t.Parallel()
	const head = -1
	before := func(d time.Duration) storetest.Option {
		return func(o *store.Options) { o.Now = func() time.Time { return time.Now().Add(-d) } }
	}
	refused := models.WebhookBlockRow{Stream: "", NextSeq: 1, Type: "user.added", Class: models.SendRejected, Status: 422, Attempts: 9}
	for _, tt := range []struct {
		name   string
		age    time.Duration // of what waits
		state  map[string]webhooks.Progress
		noKey  bool
		result string
		says   []string
	}{
		{"all is well", 0, map[string]webhooks.Progress{"copy": {Cursor: head}}, false, "ok", []string{"1, and none is more than a day behind"}},
		{
			"paused", 0,
			map[string]webhooks.Progress{"copy": {Cursor: head, Pause: models.PausedFailing}, "old": {Cursor: head, Pause: models.PausedGone}},
			false, "warn",
			[]string{"copy, https://hooks.example.com: it is paused, for it refused an event for a day", "old, https://hooks.example.com: it is paused, for it answered that it is gone"},
		},
		{"paused by a person", 25 * time.Hour, map[string]webhooks.Progress{"copy": {Cursor: 0, Pause: models.PausedByPerson}}, false, "ok", nil},
		{"a little late", 23 * time.Hour, map[string]webhooks.Progress{"copy": {Cursor: 0}}, false, "ok", nil},
		{"late", 25 * time.Hour, map[string]webhooks.Progress{"copy": {Cursor: 0}}, false, "warn", []string{"copy, https://hooks.example.com: the oldest event that it has not got is of"}},
		{"late in one conversation", 25 * time.Hour, map[string]webhooks.Progress{"copy": {Cursor: head, Blocks: []models.WebhookBlockRow{refused}}}, false, "warn", []string{"copy, https://hooks.example.com: the oldest event"}},
		{
			"locked", 0,
			map[string]webhooks.Progress{"copy": {Cursor: head}, "old": {Cursor: head, Pause: models.PausedGone}},
			true, "fail",
			[]string{"cannot be opened: copy, old", "there is no key file", "old, https://hooks.example.com: it is paused"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := process.Patient(t, before(tt.age))
			addWebhooks(t, dir, tt.state, before(tt.age))
			if tt.noKey {
				storetest.Must(t, os.Remove(filepath.Join(dir, models.KeyFile)))
			}
			found, _ := process.Examine(t, dir)
			got := found["webhooks"]
			if got.Result != tt.result {
				t.Errorf("%+v, want %s", got, tt.result)
			}
			for _, says := range tt.says {
				if !strings.Contains(got.Text, says) {
					t.Errorf("%q does not say %q", got.Text, says)
				}
			}
			if strings.Contains(got.Text+got.Remedy, "s3cret") {
				t.Errorf("it tells an address: %+v", got)
			}
		})
	}
}
