package process

import (
	"testing"

	"countersign/models"
)

// Env is what `ask` is given, with a cache folder that outlives one run.
func (w *World) Env(t *testing.T) []string {
	t.Helper()
	return []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent, "XDG_CACHE_HOME=" + t.TempDir()}
}

// HookEvent is what a coding agent hands to its hook.
func HookEvent(moment, more string) string {
	return `{"session_id":"s1","cwd":"/srv/app","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"` + moment + `"` + more + `}`
}

// HookCall is the part of an event that names a call.
func HookCall(tool, input, id string) string {
	return `,"tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"` + id + `"`
}

// HookEnv is what the hook's environment names.
func (w *World) HookEnv() []string {
	return []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent}
}

// StartHook starts the hook and hands it an event.
func (w *World) StartHook(t *testing.T, event string, args ...string) *Program {
	t.Helper()
	p := Start(t, w.HookEnv(), append([]string{"hook"}, args...)...)
	if _, err := p.In.Write([]byte(event)); err != nil {
		t.Fatal(err)
	}
	if err := p.In.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// HookPolicy asks a person about commands, allows reading and denies drops.
const HookPolicy = `{"unmatched":"allow","required_approval_tools":["Bash"],"rules":[
 {"name":"reading","tools":["Read"],"effect":"allow"},{"name":"no drops","tools":["Drop"],"effect":"deny","reason":"Never."}]}`

// WantStatus fails the test if a request has another status.
func (w *World) WantStatus(t *testing.T, id models.ResponseID, want models.Status) {
	t.Helper()
	row, err := w.Store().Requests.Approval(t.Context(), w.Admin, id)
	if err != nil {
		t.Fatal(err)
	}
	if row.Status() != want {
		t.Errorf("the request is %s, want %s", row.Status(), want)
	}
}
