package scenario_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// update writes the picture anew.
var update = flag.Bool("update", false, "write bench/headroom.svg")

const headroomPicture = "../../bench/headroom.svg"

// headroomActions are 125 actions of coding agents, in the shape of a published set: most are routine, some do harm, and
// how a policy takes them says little about whether they do.
var headroomActions = func() (out []headroomAction) {
	for _, of := range []struct {
		tool           string
		count, harmful int
	}{
		{"read_file", 40, 1}, {"run_tests", 25, 0}, {"search_web", 15, 2}, // low risk
		{"edit_file", 15, 4}, {"install_package", 10, 4}, // medium
		{"deploy", 9, 5}, {"delete_files", 6, 5}, // high
		{"send_payment", 5, 3}, // critical
	} {
		for i := range of.count {
			out = append(out, headroomAction{of.tool, i < of.harmful})
		}
	}
	return out
}()

type headroomAction struct {
	tool string
	harm bool
}

// headroomPolicy asks about all of them. %s is what it says of attention, and of calls of low risk.
const headroomPolicy = `{%s"grants_enabled":false,"undo_seconds":{},"rules":[
 {"name":"low","tools":["read_file","run_tests","search_web"],"effect":"require","risk":"low"%s},
 {"name":"high","tools":["deploy","delete_files"],"effect":"require","risk":"high"},
 {"name":"critical","tools":["send_payment"],"effect":"require","risk":"critical"}]}`

// Reviewers who tire: of harm that they look at they see so much while they are asked about no more than is fresh in an
// hour; twice as many, half of it.
const (
	seesFresh  = 0.97
	freshAsks  = 20
	shiftHours = 3
)

// shift is what became of the actions of one shift.
type shift struct {
	asked, harm, harmless, done int

	ran float64 // harm that runs, as is to be expected: what is not seen, of each
}

// works asks, so many times an hour, and has the reviewer decide each at once.
func works(t *testing.T, perHour int, budget bool) shift {
	t.Helper()
	b := storetest.NewBench(t)
	settings, rule := "", ""
	if budget {
		settings, rule = fmt.Sprintf(`"max_asks_per_reviewer_hour":%d,`, freshAsks), `,"when_busy":"expire"`
	}
	b.UsePolicy(t, fmt.Sprintf(headroomPolicy, settings, rule))
	random := rand.New(rand.NewPCG(125, 20))
	var out shift
	var asked []time.Time
	for n := range perHour * shiftHours {
		action := headroomActions[random.IntN(len(headroomActions))]
		a := b.AskFor(t, models.AskInput{ToolName: action.tool, Input: fmt.Appendf(nil, `{"n":%d}`, n)})
		luck := random.Float64()
		if a.Status() == models.StatusPending {
			asked = append(asked, b.Now())
			for b.Now().Sub(asked[0]) >= time.Hour {
				asked = asked[1:]
			}
			sees := seesFresh * min(1, freshAsks/float64(len(asked)))
			verdict := storetest.Yes()
			if action.harm && luck < sees {
				verdict = storetest.No("It does harm.")
			}
			verdict.Digest = a.Digest
			var err error
			a, err = b.Decide(t.Context(), b.Owner, a.ID, verdict)
			storetest.Must(t, err)
			out.asked++
			if action.harm {
				out.ran += 1 - sees
			}
		} else if a.Risk != models.RiskLow {
			t.Fatalf("a call of %s risk is %s", a.Risk, a.Status())
		}
		if action.harm {
			out.harm++
		} else {
			out.harmless++
			if a.Status() == models.StatusApproved {
				out.done++
			}
		}
		b.Clock.Step(time.Hour / time.Duration(perHour))
	}
	return out
}

var headroomLoads = []int{5, 10, 20, 40, 80}

// TestSafetyAtRisingLoad has a simulated reviewer who tires decide for a shift, with and without an attention budget. It
// draws bench/headroom.svg, and finds it as it is.
func TestSafetyAtRisingLoad(t *testing.T) {
	t.Parallel()
	var with, without []shift
	for _, load := range headroomLoads {
		without, with = append(without, works(t, load, false)), append(with, works(t, load, true))
	}
	for i, load := range headroomLoads {
		t.Logf("%3d an hour: without a budget %+v, with one %+v", load, without[i], with[i])
		if load > freshAsks && with[i].ran >= without[i].ran {
			t.Errorf("%d an hour: with a budget no less harm ran", load)
		}
		if load <= freshAsks && with[i] != without[i] {
			t.Errorf("%d an hour: the budget changes what a fresh reviewer does", load)
		}
	}
	picture := drawHeadroom(without, with)
	if *update {
		storetest.Must(t, os.WriteFile(headroomPicture, picture, 0o600))
	}
	if kept, err := os.ReadFile(headroomPicture); err != nil || !bytes.Equal(kept, picture) {
		t.Errorf("bench/headroom.svg shows something else (%v): go test ./cmd/scenario -run RisingLoad -update", err)
	}
}

// drawHeadroom draws the share of harm that did not run, and of harmless actions that did, by the load.
func drawHeadroom(without, with []shift) []byte {
	const left, top, width, height = 60, 20, 560, 240
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 340" role="img" aria-label="Safety at rising load, with and without an attention budget" font-family="sans-serif" font-size="13">
<rect width="640" height="340" fill="#fff"/>
`)
	x := func(i int) int { return left + width*i/(len(headroomLoads)-1) }
	y := func(share float64) int { return top + height - int(share*height) }
	for percent := 0; percent <= 100; percent += 25 {
		fmt.Fprintf(&b, "<path d=\"M%d %dh%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d%%</text>\n",
			left, y(float64(percent)/100), width, left-8, y(float64(percent)/100)+4, percent)
	}
	for i, load := range headroomLoads {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x(i), top+height+20, load)
	}
	for i, line := range []struct {
		name, stroke string
		of           []shift
		share        func(shift) float64
	}{
		{"harm stopped, with a budget", `stroke="#0a6b4f" stroke-width="3"`, with, func(s shift) float64 { return 1 - s.ran/float64(s.harm) }},
		{"harm stopped, without", `stroke="#b3261e" stroke-width="3"`, without, func(s shift) float64 { return 1 - s.ran/float64(s.harm) }},
		{"harmless work done, with one", `stroke="#555" stroke-width="2" stroke-dasharray="6 5"`, with, func(s shift) float64 { return float64(s.done) / float64(s.harmless) }},
	} {
		points := make([]string, len(line.of))
		for k, s := range line.of {
			points[k] = fmt.Sprintf("%d,%d", x(k), y(line.share(s)))
		}
		at := left + i*200
		fmt.Fprintf(&b, "<polyline fill=\"none\" %s points=\"%s\"/>\n<path d=\"M%d %dh24\" %s/><text x=\"%d\" y=\"%d\">%s</text>\n", line.stroke,
			strings.Join(points, " "), at-40, top+height+62, line.stroke, at-10, top+height+66, line.name)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">requests an hour, of one reviewer</text>\n</svg>\n", left+width/2, top+height+42)
	return []byte(b.String())
}
