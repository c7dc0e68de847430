package ingest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/streamjson"
)

// taker takes runs as a server does, and fails as it is told.
type taker struct {
	*httptest.Server

	mu      sync.Mutex
	opened  []wire.OpenRequest
	ids     []string // of events, as they came, without repeats
	seen    map[string]bool
	repeats int
	largest int
	fail    func(path string) int // a status instead of an answer, 0: none, -1: the answer gets lost; nil: none
}

func newTaker(t *testing.T) *taker {
	t.Helper()
	k := &taker{seen: map[string]bool{}}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := k.serve(w, r); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	}))
	t.Cleanup(k.Close)
	return k
}

func (k *taker) serve(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil // an ingest that was killed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.largest = max(k.largest, len(body))
	status := 0
	if k.fail != nil {
		status = k.fail(r.URL.Path)
	}
	if status > 0 {
		w.WriteHeader(status)
		return nil
	}
	answer := []byte(`{"id":"01890a5d-ac96-774b-bcce-b302099a8057","runId":"nightly/7","status":"running"}`)
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/conversations":
		var open wire.OpenRequest
		err = json.Unmarshal(body, &open, json.RejectUnknownMembers(true))
		k.opened = append(k.opened, open)
	case "POST /v1/conversations/01890a5d-ac96-774b-bcce-b302099a8057/events":
		if answer, err = k.take(body); err == nil && r.Header.Get("Content-Type") != "application/x-ndjson" {
			err = fmt.Errorf("it is sent as %q", r.Header.Get("Content-Type"))
		}
	default:
		err = fmt.Errorf("nothing answers there")
	}
	if got := r.Header.Get("Authorization"); got != "Bearer agent-token" {
		err = fmt.Errorf("with the credential %q", got)
	}
	if status < 0 {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
	return err
}

func (k *taker) take(body []byte) ([]byte, error) {
	var answer wire.ReportAnswer
	for line := range bytes.Lines(body) {
		var e models.RunEvent
		if err := json.Unmarshal(line, &e, json.RejectUnknownMembers(true)); err != nil {
			return nil, err
		}
		result := wire.RunEventResult{Line: len(answer.Results) + 1, ID: e.ID, Status: wire.RunEventStored}
		switch {
		case k.seen[e.ID]:
			result.Status = wire.RunEventRepeated
			k.repeats++
		case e.ToolName == "refused":
			result.Status, result.Error = wire.RunEventError, "toolName: is none\u202e"
		case e.ToolName == "other":
			result.Status, result.Error = wire.RunEventConflict, "another input was asked"
		default:
			k.seen[e.ID] = true
			k.ids = append(k.ids, e.ID)
		}
		answer.Results = append(answer.Results, result)
	}
	return json.Marshal(answer)
}

func (k *taker) failing(fail func(path string) int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = fail
}

func (k *taker) has(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.ids) >= n
}

// took checks that exactly these events arrived, in this order.
func (k *taker) took(t *testing.T, want []string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.ids, want) {
		t.Errorf("%d events arrived, want %d:\n%v\nwant\n%v", len(k.ids), len(want), k.ids, want)
	}
	if k.largest >= models.MaxBody {
		t.Errorf("a request of %d bytes", k.largest)
	}
}

// env is what ingest is given, with a cache folder that outlives one run.
func (k *taker) env(t *testing.T) []string {
	t.Helper()
	return []string{"COUNTERSIGN_SERVER=" + k.URL, "COUNTERSIGN_TOKEN=agent-token", "XDG_CACHE_HOME=" + t.TempDir()}
}

// spools are the files in the cache folder of an environment.
func spools(t *testing.T, env []string) []string {
	t.Helper()
	_, cache, _ := strings.Cut(env[2], "=")
	paths, err := filepath.Glob(filepath.Join(cache, "countersign", "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func idsOf(stream string) []string {
	var ids []string
	n := int64(0)
	var r streamjson.Reader
	for line := range strings.Lines(stream) {
		for _, e := range r.Read([]byte(line), n) {
			ids = append(ids, e.ID)
		}
		n++
	}
	return ids
}

func recording(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "models", "streamjson", "testdata", "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const spoken = `{"type":"assistant","uuid":"%s","message":{"id":"m","content":"%s"}}` + "\n"

const theEnd = `{"type":"result","subtype":"success","uuid":"end"}` + "\n"

func TestIngestARecordedRun(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	env, run := k.env(t), recording(t)
	run = strings.TrimSuffix(run, "\n") // the last line may lack its end
	out, said, code := process.RunWith(t, env, run, "ingest", "--run-id", "nightly/7", "--parent", "nightly")
	said = strings.TrimPrefix(said, "countersign: the agent's output has ended; sending the rest, for at most 30 seconds\n") // on a slow machine
	if code != 0 || out != run || said != "" {
		t.Fatalf("exit %d; %d of %d bytes passed on; it said: %s", code, len(out), len(run), said)
	}
	k.took(t, idsOf(run))
	if len(k.ids) != 23 || len(k.opened) != 1 || k.opened[0] != (wire.OpenRequest{RunID: "nightly/7", ParentRunID: "nightly", OnRejectDefault: models.OnRejectCascade}) {
		t.Errorf("%d events of %+v", len(k.ids), k.opened)
	}
	if left := spools(t, env); len(left) != 0 {
		t.Errorf("files remain: %v", left)
	}
	if _, _, code := process.RunWith(t, env, run, "ingest", "--run-id", "nightly/7"); code != 0 || k.repeats != len(k.ids) {
		t.Errorf("the same again: exit %d, %d of %d events repeated", code, k.repeats, len(k.ids))
	}
}

func TestIngestIsLiveAndOutlastsTheServer(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	env := k.env(t)
	p := process.Start(t, env, "ingest", "--run-id", "nightly/7")
	stream := ""
	write := func(id string) {
		t.Helper()
		line := fmt.Sprintf(spoken, id, "hello")
		stream += line
		if _, err := io.WriteString(p.In, line); err != nil {
			t.Fatal(err)
		}
	}
	passed := func() bool { return p.Out.String() == stream }
	write("a")
	process.Eventually(t, "the first event", func() bool { return k.has(1) })

	k.failing(func(string) int { return http.StatusBadGateway })
	write("b")
	p.Says(t, p.Err, "is kept until it can be sent")
	write("c")
	process.Eventually(t, "the lines passed on", passed)

	k.failing(nil)
	p.Says(t, p.Err, "the server accepts the run again")
	process.Eventually(t, "what was missed", func() bool { return k.has(3) })

	lost := 0
	k.failing(func(string) int { // the answer to the next report gets lost
		if lost++; lost == 1 {
			return -1
		}
		return 0
	})
	write("d")
	process.Eventually(t, "the repeat", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.repeats == 1 })

	p.Signal(t, syscall.SIGTERM) // the agent's to heed: it may have last words
	stream += theEnd
	if _, err := io.WriteString(p.In, theEnd); err != nil {
		t.Fatal(err)
	}
	_ = p.In.Close()
	if code := p.Exit(t); code != 0 || !passed() {
		t.Errorf("exit %d, passed on:\n%s", code, p.Out)
	}
	k.took(t, []string{"a/0", "b/0", "c/0", "d/0", "end/0"})
	if left := spools(t, env); len(left) != 0 {
		t.Errorf("files remain: %v", left)
	}
}

func TestIngestKeepsTheRunForTheNext(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	env, run := k.env(t), recording(t)
	away := slices.Clone(env)
	k.failing(func(string) int { return http.StatusServiceUnavailable })
	out, said, code := process.RunWith(t, away, run, "ingest", "--run-id", "nightly/7", "--drain-timeout", "50ms")
	left := spools(t, env)
	if code != 3 || out != run || len(left) != 1 || !strings.Contains(said, "23 events of the run wait in "+left[0]) {
		t.Fatalf("exit %d; %d of %d bytes passed on; files %v; it said: %s", code, len(out), len(run), left, said)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	k.failing(nil)
	if _, _, code := process.RunWith(t, env, "", "ingest", "--run-id", "another"); code == 0 || len(k.ids) != 0 {
		t.Error("another run took it") // and its conversation is not the one it asked for
	}
	if out, said, code := process.RunWith(t, env, "", "ingest", "--run-id", "nightly/7"); code != 0 || out != "" {
		t.Fatalf("the next: exit %d, passed on %q, said: %s", code, out, said)
	}
	k.took(t, idsOf(run))
	if left := spools(t, env); len(left) != 0 {
		t.Errorf("files remain: %v", left)
	}
}

func TestIngestSurvivesItsKillI8(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	env, lines := k.env(t), strings.SplitAfter(recording(t), "\n")
	first, second := strings.Join(lines[:15], ""), strings.Join(lines[15:], "")
	want := append(idsOf(first), idsOf(second)...)
	p := process.Start(t, env, "ingest", "--run-id", "nightly/7")
	write := func(lines []string) {
		t.Helper()
		for _, line := range lines {
			if _, err := io.WriteString(p.In, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(lines[:5])
	process.Eventually(t, "a part with the server", func() bool { return k.has(len(idsOf(strings.Join(lines[:5], "")))) })
	k.failing(func(string) int { return http.StatusBadGateway })
	write(lines[5:15])
	last := idsOf(first)[len(idsOf(first))-1]
	process.Eventually(t, "the rest on the disk", func() bool {
		left := spools(t, env)
		if len(left) != 1 {
			return false
		}
		raw, err := os.ReadFile(left[0])
		return err == nil && bytes.Contains(raw, []byte(last)) && p.Out.String() == first
	})
	p.Signal(t, syscall.SIGKILL)
	p.Exit(t)
	k.failing(nil)
	out, said, code := process.RunWith(t, env, second, "ingest", "--run-id", "nightly/7")
	if code != 0 || out != second {
		t.Fatalf("exit %d; it said: %s", code, said)
	}
	k.took(t, want)
	if left := spools(t, env); len(left) != 0 {
		t.Errorf("files remain: %v", left)
	}
}

func TestIngestKeepsRequestsUnderTheLimit(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	var run strings.Builder
	for i := range 40 {
		fmt.Fprintf(&run, spoken, fmt.Sprint("u", i), strings.Repeat("x", 190<<10))
	}
	fmt.Fprintf(&run, spoken, "controls", strings.Repeat(`\u0001`, 300<<10))
	fmt.Fprintf(&run, `{"type":"assistant","uuid":"input","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":"%s"}}]}}`+"\n", strings.Repeat("x", 3<<20))
	run.WriteString(strings.Repeat("y", 17<<20) + "\n" + theEnd)
	out, said, code := process.RunWith(t, k.env(t), run.String(), "ingest", "--run-id", "nightly/7")
	if code != 4 || out != run.String() || !strings.Contains(said, "1 line of the agent's output could not be read:\n    line 43: yyy") {
		t.Errorf("exit %d; %d of %d bytes; it said: %s", code, len(out), run.Len(), said)
	}
	k.mu.Lock()
	notice := k.ids[len(k.ids)-1]
	k.mu.Unlock()
	if k.took(t, append(idsOf(run.String()[:run.Len()-len(theEnd)]), "end/0", notice)); len(k.ids) != 44 {
		t.Errorf("%d events arrived", len(k.ids))
	}
}

func TestIngestTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	call := func(name string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"%[1]s","message":{"id":"m","content":[{"type":"tool_use","id":"%[1]s","name":"%[1]s","input":{}}]}}`+"\n", name)
	}
	status := func(code int) func(string) int { return func(string) int { return code } }
	tests := []struct {
		name, in string
		args     []string
		fail     func(string) int
		hears    string // what it must have said before its input begins
		code     int
		says     string
		took     []string
		files    int
	}{
		{name: "a token that does not hold", in: theEnd, fail: status(401), code: 4, says: "1 events of the run wait in", files: 1},
		{name: "what is no server of ours", in: theEnd, fail: status(200), code: 4, says: "is not Countersign", files: 1},
		{name: "no server", in: theEnd, args: []string{"--server", "http://127.0.0.1:9", "--drain-timeout", "50ms"}, hears: "does not answer", code: 3, says: "does not answer", files: 1},
		{name: "a refused event", in: call("refused") + theEnd, code: 4, says: "event refused/0 was not accepted: toolName: is none⟨U+202E⟩", took: []string{"end/0"}},
		{name: "a contradiction, under each id", in: call("other") + theEnd, code: 4, says: "was not accepted: another input was asked", took: []string{"end/0"}},
		{name: "no stream-json", in: "hello\n", code: 4, says: "no line was one of a run", took: []string{streamjson.Notice("", "1 line of the agent's output could not be read:\nline 1: hello").ID}},
		{name: "an agent that died", in: fmt.Sprintf(spoken, "a", "x"), code: 0, took: []string{"a/0", streamjson.Cut("a/0").ID}},
		{name: "a folder that cannot be used", in: theEnd, args: []string{"--spool", "/dev/null/x"}, code: 0, says: "cannot be used", took: []string{"end/0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newTaker(t)
			k.failing(tt.fail)
			env := k.env(t)
			p := process.Start(t, env, append([]string{"ingest", "--run-id", "nightly/7"}, tt.args...)...)
			if tt.hears != "" {
				p.Says(t, p.Err, tt.hears)
			}
			out, said, code := p.Give(t, tt.in)
			if code != tt.code || out != tt.in || !strings.Contains(said, tt.says) {
				t.Errorf("exit %d, want %d and %q; passed on %q; it said: %s", code, tt.code, tt.says, out, said)
			}
			if k.took(t, tt.took); len(spools(t, env)) != tt.files {
				t.Errorf("files remain: %v", spools(t, env))
			}
		})
	}
	for _, tt := range []struct {
		says string
		env  []string
		args []string
	}{
		{"--run-id: must name the run", nil, nil},
		{"--run-id: must be at most", nil, []string{"--run-id", "a\nb"}},
		{"--parent: must be", nil, []string{"--run-id", "a", "--parent", strings.Repeat("x", 201)}},
		{"COUNTERSIGN_TOKEN", nil, []string{"--run-id", "a"}},
		{"COUNTERSIGN_SERVER", []string{"COUNTERSIGN_SERVER=nowhere"}, []string{"--run-id", "a"}},
		{"--drain-timeout", nil, []string{"--run-id", "a", "--drain-timeout", "0s"}},
	} {
		if _, said, code := process.RunWith(t, tt.env, "", append([]string{"ingest"}, tt.args...)...); code != 4 || !strings.Contains(said, tt.says) {
			t.Errorf("%v: exit %d, want 4 and %q; it said: %s", tt.args, code, tt.says, said)
		}
	}
}

func TestIngestFollowsTheRunWhenItsReaderLeaves(t *testing.T) {
	t.Parallel()
	k := newTaker(t)
	p := exec.CommandContext(t.Context(), process.Binary, "ingest", "--run-id", "nightly/7")
	p.Env = k.env(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout = writer
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	p.Stderr = &said
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	_ = reader.Close()
	for _, line := range []string{fmt.Sprintf(spoken, "a", "x"), fmt.Sprintf(spoken, "b", "x"), theEnd} {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatalf("the agent's pipe broke: %v", err)
		}
	}
	_ = in.Close()
	if err := p.Wait(); err != nil || !strings.Contains(said.String(), "nobody reads the output any more") {
		t.Errorf("%v; it said: %s", err, said.String())
	}
	k.took(t, []string{"a/0", "b/0", "end/0"})
}

func TestIngestIsNotHeldUpByAServerThatHangs(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // takes connections and nothing more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	env := []string{"COUNTERSIGN_SERVER=http://" + silent.Addr().String(), "COUNTERSIGN_TOKEN=agent-token", "XDG_CACHE_HOME=" + t.TempDir()}
	out, said, code := process.RunWith(t, env, theEnd, "ingest", "--run-id", "nightly/7", "--drain-timeout", "50ms")
	if code != 3 || out != theEnd || !strings.Contains(said, "1 events of the run wait in") {
		t.Errorf("exit %d; it said: %s", code, said)
	}
	p := process.Start(t, env, "ingest", "--run-id", "nightly/7", "--drain-timeout", "1h")
	_ = p.In.Close()
	p.Says(t, p.Err, "sending the rest")
	p.Signal(t, syscall.SIGINT)
	if code := p.Exit(t); code != 3 || len(spools(t, env)) != 1 {
		t.Errorf("interrupted: exit %d; files %v; it said: %s", code, spools(t, env), p.Err)
	}
}
