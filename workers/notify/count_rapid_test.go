package notify_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/storetest"
)

// person is somebody of the world below: their settings, and how many messages they got.
type person struct {
	actor   models.Actor
	moments models.Moments
	quiet   [2]time.Time // from, to; both zero: none
	breaks  bool
	got     int
}

func (p *person) quietAt(at time.Time) bool { return !at.Before(p.quiet[0]) && at.Before(p.quiet[1]) }

type arrival struct {
	tool string // calm or grave
	at   time.Time
	ends time.Time
}

func (a arrival) critical() bool { return a.tool == "grave" }

// countOf is how many messages a person gets by the rules, told once more in short: of what is
// due together, one message if it is more than three; a minute between; in quiet hours only
// what is critical, and what all would miss. Of more than three that are new, nothing within a
// quarter of an hour of the last message until they are as many as those told that wait, or worse.
func countOf(p *person, all []*person, asked []arrival) int {
	type moment struct {
		at    time.Time
		of    int
		first bool // not a reminder
	}
	var due []moment
	for i, a := range asked {
		span := a.ends.Sub(a.at)
		add := func(wanted bool, at time.Time, first bool) {
			if wanted && at.Before(a.ends) {
				due = append(due, moment{at, i, first})
			}
		}
		add(p.moments.AtOnce, a.at, true)
		add(p.moments.UnseenMinutes > 0, a.at.Add(time.Duration(p.moments.UnseenMinutes)*time.Minute), false)
		add(p.moments.Half, a.at.Add(span/2), false)
		add(p.moments.Tenth, a.ends.Add(-span/10), false)
	}
	n, last, told := 0, time.Time{}, map[int]bool{}
	for len(due) > 0 {
		at := due[0].at
		for _, d := range due {
			if d.at.Before(at) {
				at = d.at
			}
		}
		if next := last.Add(time.Minute); at.Before(next) {
			at = next
		}
		tell, reminds := map[int]bool{}, false
		var later []moment
		for _, d := range due {
			a := asked[d.of]
			putOff := d.first && d.at.After(a.at) && !d.at.After(at.Add(time.Minute))
			switch {
			case d.at.After(at) && !putOff:
				later = append(later, d)
			case !at.Before(a.ends):
			case !p.quietAt(at) || a.critical() && p.breaks:
				tell[d.of] = true
				reminds = reminds || !d.first
			case missedByAll(all, a, at):
				tell[d.of], reminds = true, true
			default:
				later = append(later, moment{p.quiet[1], d.of, d.first})
			}
		}
		due = later
		if len(tell) > 3 && !reminds && at.Sub(last) < models.BurstPause && !grown(tell, told, asked, at) {
			for of := range tell {
				due = append(due, moment{at.Add(time.Minute), of, true})
			}
			continue
		}
		switch {
		case len(tell) > 3:
			n++
		default:
			n += len(tell)
		}
		if len(tell) > 0 {
			last = at
		}
		for of := range tell {
			told[of] = true
		}
	}
	return n
}

// grown is whether what is new is as much as what was told and waits, or worse.
func grown(tell, told map[int]bool, asked []arrival, at time.Time) bool {
	waits, worst := 0, false
	for of := range told {
		if at.Before(asked[of].ends) {
			waits++
			worst = worst || asked[of].critical()
		}
	}
	fresh := 0
	for of := range tell {
		if !told[of] {
			fresh++
			if waits == 0 || asked[of].critical() && !worst {
				return true
			}
		}
	}
	return fresh >= max(1, waits)
}

func missedByAll(all []*person, a arrival, at time.Time) bool {
	for _, p := range all {
		told := p.moments != models.Moments{}
		if told && (!p.quietAt(at) || p.quiet[1].Before(a.ends) || a.critical() && p.breaks) {
			return false
		}
	}
	return true
}

// countMessages lets requests come, and compares how many messages each person gets in all with
// what the rules say.
func countMessages(t *testing.T, p *place, persons []*person, asked []arrival) {
	t.Helper()
	for i, a := range asked {
		if i == 0 || !a.at.Equal(asked[i-1].at) {
			p.until(t, a.at.Add(-time.Microsecond)) // what is due as it comes is told with it
			p.clock.Step(time.Microsecond)
		}
		if _, err := p.Ask(t.Context(), p.agent, models.AskInput{ToolName: a.tool, Input: fmt.Appendf(nil, `{"n":%d}`, i)}); err != nil {
			t.Fatal(err)
		}
	}
	p.wait(t, 3*time.Hour)
	for _, m := range p.post.take() {
		for _, who := range persons {
			if m.to == who.actor.Name && m.Kind != models.NoticeSettled {
				who.got++
			}
		}
	}
	for _, who := range persons {
		if want := countOf(who, persons, asked); who.got != want {
			t.Fatalf("%s (%+v, quiet %v, breaks %t) got %d messages of %d requests, want %d", who.actor.Name, who.moments, who.quiet, who.breaks, who.got, len(asked), want)
		}
	}
}

const calmMinutes, graveMinutes = 60, 10

// crowd makes people with channels, and the rules that ask them.
func crowd(t *testing.T, p *place, persons []*person) {
	t.Helper()
	var emails []string
	for i, who := range persons {
		who.actor = storetest.Reviewer(t, p.Store, fmt.Sprintf("p%02d@example.com", i))
		emails = append(emails, who.actor.Name)
		p.mail(t, who.actor)
		p.settings(t, who.actor, func(s *models.NotificationSettings) {
			for _, risk := range models.Risks() {
				s.Moments[risk] = who.moments
			}
			s.CriticalBreaksThrough = who.breaks
			if !who.quiet[0].IsZero() {
				s.QuietFrom, s.QuietTo = models.ClockTime(who.quiet[0].Format("15:04")), models.ClockTime(who.quiet[1].Format("15:04"))
			}
		})
	}
	list, err := json.Marshal(emails)
	storetest.Must(t, err)
	_, err = p.ApplyPolicy(t.Context(), p.admin, fmt.Appendf(nil, `{"approval_enabled":true,"rules":[
	 {"name":"grave","tools":["grave"],"effect":"require","risk":"critical","timeout_minutes":%d,"reviewers":%s},
	 {"name":"calm","tools":["calm"],"effect":"require","risk":"medium","timeout_minutes":%d,"reviewers":%s}]}`, graveMinutes, list, calmMinutes, list), "test", 0)
	storetest.Must(t, err)
}

// noonLater is when the requests begin to come: behind all that makes the channels.
var noonLater = storetest.NewClock().Now().Add(5 * 24 * time.Hour)

func arriving(tool string, at time.Time) arrival {
	minutes := map[string]int{"calm": calmMinutes, "grave": graveMinutes}[tool]
	return arrival{tool, at, at.Add(time.Duration(minutes) * time.Minute)}
}

// 500 requests in a minute for 20 people, every second of whom has quiet hours: each gets as
// many messages as the rules say, which is far fewer.
func TestFiveHundredRequestsForTwentyPeople(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	random := rand.New(rand.NewPCG(18, 1))
	persons := make([]*person, 20)
	for i := range persons {
		persons[i] = &person{moments: models.Moments{AtOnce: true, Half: i%3 == 0, Tenth: i%4 == 0, UnseenMinutes: i % 5}, breaks: i%8 == 0}
		if i%2 == 0 {
			persons[i].quiet = [2]time.Time{noonLater.Add(-time.Hour), noonLater.Add(time.Duration(5+3*i) * time.Minute)}
		}
	}
	crowd(t, p, persons)
	asked := make([]arrival, 500)
	for i := range asked {
		tool := "calm"
		if random.IntN(10) == 0 {
			tool = "grave"
		}
		asked[i] = arriving(tool, noonLater.Add(time.Duration(i/5)*600*time.Millisecond))
	}
	countMessages(t, p, persons, asked)
	total := 0
	for _, who := range persons {
		total += who.got
	}
	t.Logf("%d requests for %d people: %d messages in all", len(asked), len(persons), total)
	if most := 20 * 20; total > most {
		t.Errorf("%d messages for 20 people, want at most %d", total, most)
	}
	// Who is told at once only, and has no quiet hours: the first alone, the rest as one.
	if persons[5].moments != (models.Moments{AtOnce: true}) || persons[5].got != 2 {
		t.Errorf("%+v", persons[5])
	}
}

func TestEachGetsAsManyMessagesAsTheRulesSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := newPlace(t)
		persons := make([]*person, rapid.IntRange(1, 4).Draw(r, "people"))
		for i := range persons {
			persons[i] = &person{
				moments: models.Moments{
					AtOnce: rapid.Bool().Draw(r, "at once"), UnseenMinutes: rapid.SampledFrom([]int{0, 1, 7, 30, 90}).Draw(r, "unseen"),
					Half: rapid.Bool().Draw(r, "half"), Tenth: rapid.Bool().Draw(r, "tenth"),
				},
				breaks: rapid.Bool().Draw(r, "breaks"),
			}
			if rapid.Bool().Draw(r, "quiet") {
				from := rapid.IntRange(-60, 30).Draw(r, "from")
				persons[i].quiet = [2]time.Time{noonLater.Add(time.Duration(from) * time.Minute), noonLater.Add(time.Duration(from+rapid.IntRange(1, 90).Draw(r, "for")) * time.Minute)}
			}
		}
		crowd(t, p, persons)
		asked := make([]arrival, rapid.IntRange(0, 12).Draw(r, "requests"))
		at := noonLater
		for i := range asked {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 20, 60, 300}).Draw(r, "after")) * time.Second)
			asked[i] = arriving(rapid.SampledFrom([]string{"calm", "grave"}).Draw(r, "tool"), at)
		}
		countMessages(t, p, persons, asked)
		storetest.Must(t, p.Close())
	})
}
