package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// killedEnv holds the folder of the process that is to be killed, killedURLEnv its database; killRoundsEnv how often that
// happens, where it is not as often as in make test.
const killedEnv, killedURLEnv, killRoundsEnv = "NOTIFY_KILLED", "NOTIFY_KILLED_URL", "KILL_ROUNDS"

// sendUntilKilled is the process that is killed: a worker with the senders that a server has.
func sendUntilKilled(dir string) int {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(ctx, store.Options{Dir: dir, URL: os.Getenv(killedURLEnv), Log: log})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sender, err := send.New(send.Options{Now: time.Now, Out: outward.New(outward.Options{Now: time.Now, Hosts: func(ctx context.Context) (outward.List, error) {
		hosts, err := s.People.HostsForSending(ctx)
		list := make(outward.List, len(hosts))
		for i := range hosts {
			list[i] = hosts[i].Host
		}
		return list, err
	}})})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { // as a server does: what is asked comes from another process
		for range time.Tick(50 * time.Millisecond) {
			_ = s.CheckOutside(ctx)
		}
	}()
	notify.New(notify.Options{Store: s, Sender: sender, Log: log, LeaseTTL: killedTTL}).Run(ctx)
	return 0
}

const killedTTL = 300 * time.Millisecond

// arrivals are what a receiver got: how often each message came, by its id, and of what
// it is.
type arrivals struct {
	*httptest.Server

	mu   sync.Mutex
	ids  map[string]int
	of   map[string]string // "kind request path" by id
	some chan struct{}     // somebody counts them
}

func newArrivals(t *testing.T) *arrivals {
	t.Helper()
	a := &arrivals{ids: map[string]int{}, of: map[string]string{}, some: make(chan struct{}, 1)}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body struct {
			Type string
			Data struct{ ID, RequestID string }
		}
		if err != nil || json.Unmarshal(raw, &body) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a.mu.Lock()
		a.ids[body.Data.ID]++
		a.of[body.Data.ID] = strings.TrimPrefix(body.Type, "notice.") + " " + body.Data.RequestID + " " + r.URL.Path
		a.mu.Unlock()
		select {
		case a.some <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids)
}

// check compares what came with what was to be told by every path: all of it, nothing else,
// and nothing more than twice.
func (a *arrivals) check(t *testing.T, want map[string]bool) (again int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	came := map[string]int{}
	for id, n := range a.ids {
		came[a.of[id]]++
		if again += n - 1; n > 2 {
			t.Errorf("%s came %d times, though one process died", a.of[id], n)
		}
	}
	for of := range want {
		if came[of] != 1 {
			t.Errorf("%s came as %d messages", of, came[of])
		}
	}
	for of := range came {
		if !want[of] {
			t.Errorf("%s was not to be told", of)
		}
	}
	clear(a.ids)
	clear(a.of)
	return again
}

// missing are the requests that are noted as told by a channel and did not come there.
func (a *arrivals) missing(told []string) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	came := map[string]bool{}
	for _, of := range a.of {
		came[of] = true
	}
	for _, of := range told {
		if !came[of] {
			out = append(out, of)
		}
	}
	return out
}

// killed is a place whose worker is another process.
type killed struct {
	*place
	*arrivals

	dir   string
	child *exec.Cmd
	paths []string
}

func newKilled(t *testing.T, people int) *killed {
	t.Helper()
	k := &killed{dir: storetest.Dir(t), arrivals: newArrivals(t)}
	clock := storetest.NewClock()
	clock.Step(time.Since(clock.Now())) // the other process has that of the computer
	k.place = newPlace(t, storetest.WithDir(k.dir), storetest.WithClock(clock))
	k.clock, k.post.now = clock, clock.Now
	storetest.Must(t, k.People.AllowHost(t.Context(), k.admin, strings.TrimPrefix(k.URL, "http://")))
	var names []string
	for i := range people {
		who := storetest.Reviewer(t, k.Store, fmt.Sprintf("p%02d@example.com", i))
		names = append(names, who.Name)
		path := fmt.Sprintf("/p%02d", i)
		k.paths = append(k.paths, path)
		c, err := k.People.AddChannel(t.Context(), who, models.ChannelInput{Kind: models.ChannelWebhook, Label: path[1:], Target: models.ChannelTarget{URL: k.URL + path}})
		storetest.Must(t, err)
		k.rounds(t)
		code := k.post.take()[0]
		storetest.Must(t, k.People.VerifyChannel(t.Context(), who, c.ID, code.Code))
		k.settings(t, who, onlyAtOnce)
	}
	k.rule(t, models.RiskMedium, 24*60, names...)
	storetest.Must(t, k.Nodes.DropLease(t.Context(), k.lease))
	k.lease = nil
	return k
}

func (k *killed) start(t *testing.T) {
	t.Helper()
	k.child = exec.CommandContext(t.Context(), os.Args[0])
	k.child.Env = append(os.Environ(), killedEnv+"="+k.dir, killedURLEnv+"="+storetest.URL(t, k.dir))
	k.child.Stderr = os.Stderr
	storetest.Must(t, k.child.Start())
}

// kill is kill -9.
func (k *killed) kill(t *testing.T) {
	t.Helper()
	storetest.Must(t, k.child.Process.Kill())
	_ = k.child.Wait()
}

// arrived waits for so many messages. Who was told of one request before the next was asked
// would hear of that a minute later.
func (k *killed) arrived(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(patience); k.count() < n; {
		k.forgetTold(t)
		select {
		case <-k.some:
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("%d messages came, want %d", k.count(), n)
		}
	}
}

// forgetTold lets everybody be told at once.
func (k *killed) forgetTold(t *testing.T) {
	t.Helper()
	k.hurry(t, `UPDATE channels SET told_at = NULL WHERE told_at < ?`)
}

// drained waits until all is sent. What was being sent when the process died is due after five
// seconds, and what came after somebody was told waits a minute: nobody waits for that here.
func (k *killed) drained(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		k.hurry(t, `UPDATE notice_sends SET due_at = at WHERE attempts > 0 AND due_at > ?`)
		k.forgetTold(t)
		select {
		case <-k.some:
		case <-time.After(20 * time.Millisecond):
		}
		if storetest.Scalar[int](t, k.Store, `SELECT (SELECT count(*) FROM notice_sends) + (SELECT count(*) FROM notices)`) == 0 {
			return
		}
	}
	t.Fatal("not all is sent")
}

func (k *killed) hurry(t *testing.T, update string) {
	t.Helper()
	storetest.Elsewhere(t, k.Store, update, time.Now().UTC())
}

// told is what is noted as sent.
func (k *killed) told(t *testing.T, requests []models.ResponseID) (out []string) {
	t.Helper()
	for _, id := range requests {
		for _, label := range storetest.Column(t, k.Store, `SELECT c.label FROM notified n JOIN channels c ON c.id = n.channel_id WHERE n.sent_at IS NOT NULL AND n.response_id = ?`, id) {
			out = append(out, "waiting "+string(id)+" /"+strings.Fields(label)[0])
		}
	}
	return out
}

// A worker that is killed with kill -9 in the midst of its work loses no message, sends at
// most one more of each that was under way, and has none noted as sent that was not (I8).
func TestKilledWhileSendingI8(t *testing.T) {
	t.Parallel()
	rounds, err := strconv.Atoi(os.Getenv(killRoundsEnv))
	if err != nil {
		rounds = 10
	}
	const people, requests = 12, 3
	k := newKilled(t, people)
	random := rand.New(rand.NewPCG(18, 3))
	k.start(t)
	defer func() { k.kill(t) }()
	var waiting []models.ResponseID
	messages, again := 0, 0
	for round := range rounds {
		k.clock.Step(max(0, time.Since(k.clock.Now())))
		kind := models.NoticeWaiting
		if round%2 == 0 {
			k.forgetTold(t)
			for range requests {
				waiting = append(waiting, k.ask(t).ID)
			}
		} else {
			kind = models.NoticeSettled
			for _, id := range waiting {
				_, err := k.Decide(t.Context(), k.admin, id, decision(false))
				storetest.Must(t, err)
			}
		}
		want := map[string]bool{}
		for _, id := range waiting {
			for _, path := range k.paths {
				want[string(kind)+" "+string(id)+" "+path] = true
			}
		}
		k.arrived(t, 1+random.IntN(len(want)-1))
		k.kill(t)
		if kind == models.NoticeWaiting {
			if lost := k.missing(k.told(t, waiting)); len(lost) > 0 {
				t.Fatalf("noted as sent, and never sent: %q", lost)
			}
		} else {
			waiting = nil
		}
		k.start(t)
		k.drained(t)
		messages += len(want)
		again += k.check(t, want)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d kills: %d messages, %d of them twice", rounds, messages, again)
	if most := 8 * rounds; again > most { // as many channels are sent to at once
		t.Errorf("%d messages came twice, want at most %d", again, most)
	}
}
