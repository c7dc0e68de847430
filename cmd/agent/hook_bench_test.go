package agent_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models/storetest"
)

// BenchmarkHookBesideVersion runs `hook` on a call that the policy lets through and
// `--version` in turns, each a process of its own. What an agent feels is the difference,
// p99-above-ms, which is to be 15 at most.
func BenchmarkHookBesideVersion(b *testing.B) {
	w := newBenchWorld(b)
	env := []string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + w.agent}
	n := 0
	once := func(stdin string, args ...string) time.Duration {
		c := exec.CommandContext(b.Context(), process.Binary, args...)
		c.Env, c.Stdin = env, bytes.NewReader([]byte(stdin))
		begun := time.Now()
		out, err := c.CombinedOutput()
		took := time.Since(begun)
		if err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return took
	}
	var hook, version []time.Duration
	for b.Loop() {
		n++
		version = append(version, once("", "--version"))
		hook = append(hook, once(process.HookEvent("PreToolUse", process.HookCall("Read", `{"file_path":"/srv/app/main.go"}`, fmt.Sprint(n))), "hook"))
	}
	slices.Sort(hook)
	slices.Sort(version)
	p := func(all []time.Duration, percent int) float64 {
		return float64(all[min(len(all)-1, len(all)*percent/100)].Microseconds()) / 1000
	}
	b.ReportMetric(p(version, 99), "version-p99-ms")
	b.ReportMetric(p(hook, 99), "hook-p99-ms")
	b.ReportMetric(p(hook, 99)-p(version, 99), "p99-above-ms")
	b.ReportMetric(p(hook, 50)-p(version, 50), "p50-above-ms")
}

// benchWorld is a server with a policy that lets Read through, and an agent's token.
type benchWorld struct{ addr, agent string }

func newBenchWorld(b *testing.B) benchWorld {
	b.Helper()
	app := process.Serve(b, storetest.Dir(b), "")
	admin := storetest.Admin(b, app.Store())
	_, agent := storetest.AgentToken(b, app.Store(), admin, "bot")
	if _, err := app.Store().ApplyPolicy(b.Context(), admin, []byte(process.HookPolicy), "", 0); err != nil {
		b.Fatal(err)
	}
	return benchWorld{app.Addr, agent}
}
