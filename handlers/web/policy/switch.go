package policy

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views/pages/policies"
)

// typedEnds are the ends typed for switches; a switch that was not touched has none.
func typedEnds(form url.Values, step string) map[string]policies.TypedEnd {
	out := map[string]policies.TypedEnd{}
	for _, t := range policies.Toggles() {
		end := policies.TypedEnd{For: form.Get(t.ID + "_for"), At: form.Get(t.ID + "_at"), Word: form.Get(t.ID + "_word")}
		if step == t.Open || end.At != "" || end.Word != "" {
			out[t.ID] = end
		}
	}
	return out
}

// turn does what the button of a switch says. ok is false if the typed end is invalid: then e.typed says why, and the
// draft is unchanged.
func (e *editing) turn(step string) (ok bool) {
	toggles := policies.Toggles()
	i := slices.IndexFunc(toggles, func(t policies.Toggle) bool { return step == t.Open || step == t.Close })
	if i < 0 {
		return true
	}
	t := toggles[i]
	set := policy.Form{t.Flag: t.Closed, t.Until: ""}
	if step == t.Open {
		end := e.entries[t.ID]
		until, faults := endTyped(end, e.now, e.standing.Program.Zone())
		if len(faults) > 0 {
			end.Faults = faults
			e.entries[t.ID] = end
			return false
		}
		set = policy.Form{t.Flag: t.Opened, t.Until: until}
	}
	delete(e.entries, t.ID)
	e.doc.PutSettings(set)
	e.check()
	return true
}

// endTyped is the chosen end as the document writes it: empty for none. It turns minutes into a time, rounded up to a
// whole minute, so that the admin reviews the same end that is saved.
func endTyped(end policies.TypedEnd, now time.Time, zone *time.Location) (until string, faults map[string]string) {
	switch end.For {
	case policies.UntilNever:
		if !strings.EqualFold(strings.TrimSpace(end.Word), policies.NoEnd) {
			return "", map[string]string{"word": "must be “" + policies.NoEnd + "”, to confirm that it has no end"}
		}
		return "", nil
	case policies.UntilTime:
		at, err := time.ParseInLocation(localTime, strings.Replace(strings.TrimSpace(end.At), " ", "T", 1), zone)
		if err != nil {
			return "", map[string]string{"at": "must be a date and a time such as " +
				now.Add(time.Hour).In(zone).Format(localTime)}
		}
		if wrong := policy.EndProblem(at, now); wrong != "" {
			return "", map[string]string{"at": wrong}
		}
		return at.UTC().Format(time.RFC3339), nil
	}
	minutes, err := strconv.Atoi(end.For)
	if err != nil || minutes < 1 || policy.EndProblem(now.Add(time.Duration(minutes)*time.Minute), now) != "" {
		return "", map[string]string{"for": "must be one of these"}
	}
	return now.Add(time.Duration(minutes)*time.Minute +
		time.Minute - 1).Truncate(time.Minute).UTC().Format(time.RFC3339), nil
}

// ends are the errors in the ends of a valid draft at this time, by path.
func (e *editing) ends() map[string]string {
	if e.doc == nil || len(e.checked.Problems) > 0 {
		return nil
	}
	wrong := site.AsError(e.checked.Document.CheckEnds(e.base.Program.Document(), e.now), models.CodeInvalid)
	if wrong == nil {
		return nil
	}
	return wrong.Fields
}
