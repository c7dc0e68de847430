package process_test

import (
	"bufio"
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/workers/upstream/upstreamtest"
)

// listen reads a server's stream until the test or the server ends.
func listen(t *testing.T, v *process.Victim) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, "http://"+v.Addr+"/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+v.Reviewer)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	out, done := make(chan string, 1000), make(chan struct{})
	t.Cleanup(func() {
		_ = res.Body.Close()
		<-done
	})
	go func() {
		defer close(done)
		for scan := bufio.NewScanner(res.Body); scan.Scan(); {
			if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok {
				out <- data
			}
		}
	}()
	return out
}

// next waits for an event that holds both texts.
func next(t *testing.T, events <-chan string, texts ...string) string {
	t.Helper()
	late := time.After(2 * process.Patience)
	for {
		select {
		case e := <-events:
			all := true
			for _, text := range texts {
				all = all && strings.Contains(e, text)
			}
			if all {
				return e
			}
		case <-late:
			t.Fatalf("no event with %q", texts)
		}
	}
}

// leaseOf reads who has the right to do something.
func leaseOf(t *testing.T, dir, name string) (holder string, number int64) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, models.DatabaseFile)+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), `SELECT holder, number FROM leases WHERE name = ?`, name).Scan(&holder, &number); err != nil {
		t.Fatal(err)
	}
	return holder, number
}

// TestTwoServersOnOneDatabase: one polls, and when it is killed the other takes
// over; what one does the other shows within a second.
func TestTwoServersOnOneDatabase(t *testing.T) {
	t.Parallel()
	first := newOutsideWorld(t, nil, "--poll-every", "50ms", "--takeover-after", "3s", "--log-level", "debug")
	u := first.upstreams[0]
	u.Await("the first poll", func(u *upstreamtest.Server) bool { return len(u.Requests()) > 0 })
	second := &process.Victim{Dir: first.Dir, Addr: process.FreeAddr(t), Settings: first.Settings, Person: first.Person, Agent: first.Agent, Reviewer: first.Reviewer, Admin: first.Admin}
	second.Start(t)
	holder, number := leaseOf(t, first.Dir, "poll")

	atFirst, atSecond := listen(t, first.Victim), listen(t, second)
	told := func(call string) (approval string) {
		t.Helper()
		u.Ask(upstreamtest.Call{CallID: call, Fn: "bash", Kwargs: `{"call":"` + call + `"}`})
		next(t, atFirst, `"new_approval"`)
		next(t, atSecond, `"new_approval"`)
		pending, err := first.waits(t.Context(), first.Reviewer)
		if err != nil || len(pending) != 1 {
			t.Fatalf("%+v, %v", pending, err)
		}
		return string(pending[0].ApprovalID)
	}
	decide := func(v *process.Victim, id string) {
		t.Helper()
		if _, err := v.Client(v.Reviewer).Respond(t.Context(), wire.ResponseID(id), wire.RespondRequest{Approved: new(true)}); err != nil {
			t.Fatal(err)
		}
	}
	// Either takes verdicts; the one that polls tells them.
	for call, by := range map[string]*process.Victim{"one": first.Victim, "two": second} {
		id := told(call)
		decide(by, id)
		next(t, atFirst, `"approval_resolved"`, id)
		next(t, atSecond, `"approval_resolved"`, id)
	}
	if h, n := leaseOf(t, first.Dir, "poll"); h != holder || n != number {
		t.Errorf("the lease went from %s (%d) to %s (%d) while the first was alive", holder, number, h, n)
	}

	first.Kill(t)
	u.Ask(upstreamtest.Call{CallID: "three", Fn: "bash", Kwargs: `{"call":"three"}`})
	next(t, atSecond, `"new_approval"`) // the other has taken over
	if h, n := leaseOf(t, first.Dir, "poll"); h == holder || n == number {
		t.Errorf("the lease is still that of %s (%d)", h, n)
	}
	first.Start(t)
	atFirst = listen(t, first.Victim)
	pending, err := first.waits(t.Context(), first.Reviewer)
	if err != nil || len(pending) != 1 {
		t.Fatalf("%+v, %v", pending, err)
	}
	id := string(pending[0].ApprovalID)
	decide(first.Victim, id)
	next(t, atFirst, `"approval_resolved"`, id)
	next(t, atSecond, `"approval_resolved"`, id)
	for _, call := range []string{"one", "two", "three"} {
		if v := u.VerdictsOn(call); len(v) != 1 || !v[0].Approved {
			t.Errorf("%s: %+v", call, v)
		}
	}
	process.Must(t, "", "audit", "verify", "--data", first.Dir)
	said := process.Must(t, "", "audit", "export", "--format", "jsonl", "--data", first.Dir) + first.Out.String() + first.Err.String() + second.Out.String() + second.Err.String()
	if strings.Contains(said, "key-of-") || !strings.Contains(said, "upstream.added") || !strings.Contains(said, "level=INFO") {
		t.Errorf("an upstream's key is in the export or a log, or there is none: %.300s", said)
	}
}

// The default keeps the promise too: a server looks four times in the time of a
// takeover.
func TestTheDefaultTakeoverTakesLessThanHalfAMinute(t *testing.T) {
	t.Parallel()
	out := process.Must(t, "", "serve", "--help")
	for line := range strings.SplitSeq(out, "\n") {
		if !strings.Contains(line, "--takeover-after") {
			continue
		}
		_, text, _ := strings.Cut(line, "(default ")
		d, err := time.ParseDuration(strings.TrimRight(text, ")"))
		if err != nil || d+d/4 >= 30*time.Second {
			t.Errorf("%s: %v, %v", line, d, err)
		}
		return
	}
	t.Error("there is no such setting")
}
