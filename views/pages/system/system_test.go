package system_test

import (
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/system"
)

func TestSystemInWords(t *testing.T) {
	t.Parallel()
	v := system.New(gallery.SystemInput(), gallery.Now)
	facts := map[string]string{}
	for _, g := range v.Facts {
		for _, f := range g.Facts {
			facts[f.Name] = f.Value + "|" + f.Note
		}
	}
	for name, want := range map[string]string{
		"Database": "48.0 MiB|3.0 MiB of it free", "Audit trail": "120,000 entries|", "Conversations": "1,000+|",
		"Last day": "4,200 entries|about 1.6 MiB", "Countersign": "1.4.0|", "Live connections": "9|open pages and event streams", "Running since": "1 d 2 h ago|",
	} {
		if facts[name] != want {
			t.Errorf("%s: %q, want %q", name, facts[name], want)
		}
	}
	if v.Oldest.URL == "" || v.Oldest.Left.Text != "1:00 left" || len(v.Health) != 5 {
		t.Errorf("%+v %+v", v.Oldest, v.Health)
	}
	if empty := system.New(system.Input{Start: gallery.Now}, gallery.Now); empty.Oldest != nil {
		t.Errorf("%+v", empty)
	}
}

func TestUpstreamsInWords(t *testing.T) {
	t.Parallel()
	v := system.NewUpstreams(system.UpstreamsInput{Upstreams: gallery.UpstreamStates()}, gallery.Now)
	for i, want := range []string{
		"ok||1 s ago||",
		"failing|The last 4 attempts failed. Next attempt in 1 min 10 s.|6 min ago|2|The upstream failed (503).",
		"incomplete||1 s ago||",
		"not fetched yet||||",
		"not fetched|Overdue by 2 min: no server fetches from it.|1 s ago||",
		"disabled||||",
		"paused|Paused 8 min ago: nothing is fetched from it or sent to it. Give it a new key, or resume once the key works again.|9 min ago|1|The upstream refuses the key (401).",
	} {
		row := v.Rows[i]
		if got := strings.Join([]string{row.Word.Text, row.Next, row.Succeeded.Text, row.Unsent, row.UnsentProblem}, "|"); got != want {
			t.Errorf("%s: %s, want %s", row.Name, got, want)
		}
	}
	if row := v.Rows[5]; row.Problem != "" || !strings.HasSuffix(row.SwitchURL, "/enable") || !row.Disabled {
		t.Errorf("%+v", row)
	}
	for words, in := range map[string][]models.UpstreamState{"ok": gallery.UpstreamStates()[:1], "look": gallery.UpstreamStates()[:2], "not ok": gallery.UpstreamStates()} {
		health := system.New(system.Input{Upstreams: in}, gallery.Now).Health
		if i := slices.IndexFunc(health, func(h system.Health) bool { return h.Name == "Upstreams" }); i < 0 || health[i].Word.Text != words {
			t.Errorf("%+v, want %s", health, words)
		}
	}
}

func TestTheListOfUpstreamsIsLeftAloneWhileItIsTheSame(t *testing.T) {
	t.Parallel()
	state := func(mend func([]models.UpstreamState)) string {
		in := gallery.UpstreamStates()
		mend(in)
		return system.NewUpstreams(system.UpstreamsInput{Upstreams: in}, gallery.Now).State
	}
	same := state(func([]models.UpstreamState) {})
	if state(func(u []models.UpstreamState) { u[0].Failures, u[0].Waiting = 3, 9 }) != same {
		t.Error("a poll tells whoever types a key to look again")
	}
	if state(func(u []models.UpstreamState) { u[0].DisabledAt = new(gallery.Now) }) == same {
		t.Error("one that was disabled meanwhile is the same")
	}
}
