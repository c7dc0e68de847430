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
		typed := policies.TypedEnd{For: form.Get(t.ID + "_for"), At: form.Get(t.ID + "_at"), Word: form.Get(t.ID + "_word")}
		if step == t.Open || typed.At != "" || typed.Word != "" {
			out[t.ID] = typed
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
		typed := e.typed[t.ID]
		until, faults := endTyped(typed, e.now, e.standing.Compiled.Zone())
		if len(faults) > 0 {
			typed.Faults = faults
			e.typed[t.ID] = typed
			return false
		}
		set = policy.Form{t.Flag: t.Opened, t.Until: until}
	}
	delete(e.typed, t.ID)
	e.doc.PutSettings(set)
	e.check()
	return true
}

// endTyped is the chosen end as the document writes it: empty for none. It turns minutes into a time, rounded up to a
// whole minute, so that the admin reviews the same end that is saved.
func endTyped(typed policies.TypedEnd, now time.Time, zone *time.Location) (until string, faults map[string]string) {
	switch typed.For {
	case policies.UntilNever:
		if !strings.EqualFold(strings.TrimSpace(typed.Word), policies.NoEnd) {
			return "", map[string]string{"word": "must be “" + policies.NoEnd + "”, to confirm that it has no end"}
		}
		return "", nil
	case policies.UntilTime:
		at, err := time.ParseInLocation(localTime, strings.Replace(strings.TrimSpace(typed.At), " ", "T", 1), zone)
		if err != nil {
			return "", map[string]string{"at": "must be a date and a time such as " + now.Add(time.Hour).In(zone).Format(localTime)}
		}
		if wrong := policy.EndProblem(at, now); wrong != "" {
			return "", map[string]string{"at": wrong}
		}
		return at.UTC().Format(time.RFC3339), nil
	}
	minutes, err := strconv.Atoi(typed.For)
	if err != nil || minutes < 1 || policy.EndProblem(now.Add(time.Duration(minutes)*time.Minute), now) != "" {
		return "", map[string]string{"for": "must be one of these"}
	}
	return now.Add(time.Duration(minutes)*time.Minute + time.Minute - 1).Truncate(time.Minute).UTC().Format(time.RFC3339), nil
}

// ends are the errors in the ends of a valid draft at this time, by path.
func (e *editing) ends() map[string]string {
	if e.doc == nil || len(e.checked.Problems) > 0 {
		return nil
	}
	wrong := site.AsError(e.checked.Document.CheckEnds(e.base.Compiled.Document(), e.now), models.CodeInvalid)
	if wrong == nil {
		return nil
	}
	return wrong.Fields
}
