package inbox

import (
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/ui"
)

// AsideLine is above the list, for requests that would hide the rest of it.
type AsideLine struct {
	ID      string
	Agent   string // that asks for too much; empty: requests of low risk that wait together
	Count   string
	Since   views.Moment
	Differ  []DifferLine // what differs from the rest of a flood
	Differs string       // how many differ
	More    string       // how many of them are not named
	Rest    string       // how many look alike
	URL     string       // shows them one by one
	StopURL string       // empty: the reader may not stop the agent
}

// DifferLine is a request of a flood that differs from the rest.
type DifferLine struct {
	URL, Tool string
	Risk      ui.Word
	Says      string
}

// asideLines are those above the list: floods, then the requests that wait together.
func asideLines(in Input, now time.Time) []AsideLine {
	var out []AsideLine
	for i := range in.Aside.Floods {
		out = append(out, floodLine(in, &in.Aside.Floods[i], now))
	}
	if n := in.Aside.Together; n > 0 {
		out = append(out, AsideLine{
			ID: "together", Count: requestsOf(n, "request of low risk waits", "requests of low risk wait"),
			URL: views.InboxPlace{Whose: views.WhoseTogether}.URL(),
		})
	}
	return out
}

// stopURL is where the reader may stop an agent: its owner and admins do; empty: nowhere.
func (in *Input) stopURL(agent models.AgentID, owner models.UserID) string {
	if !in.Admin && owner != in.Reader.ID {
		return ""
	}
	return views.StopAgentURL(agent)
}

func floodLine(in Input, f *models.AgentFlood, now time.Time) AsideLine {
	line := AsideLine{
		ID: "flood-" + string(f.AgentID), Agent: f.AgentName, Count: views.Count(f.Count), Since: views.Ago(f.BeganAt, now),
		URL: views.InboxPlace{Agent: f.AgentID}.URL(),
	}
	if f.Cap {
		line.Count = "more than " + line.Count
	}
	line.StopURL = in.stopURL(f.AgentID, f.OwnerID)
	for i := range f.Differ {
		a := &f.Differ[i].Approval
		line.Differ = append(line.Differ, DifferLine{
			URL: views.InboxPlace{Agent: f.AgentID}.At(a.ID).URL(), Tool: a.ToolName, Risk: ui.RiskWord(a.Risk), Says: headline.Shown(&a.Response).Text(),
		})
	}
	switch {
	case len(line.Differ) == 0:
	case f.Alike == 0:
		line.Differs = "They differ from each other:"
	default:
		line.Differs = requestsOf(f.Differs, "differs", "differ") + " from the rest:"
	}
	if more := f.Differs - len(f.Differ); more > 0 {
		line.More = requestsOf(more, "more differs", "more differ")
	}
	if f.Alike > 0 {
		line.Rest = requestsOf(f.Alike, "looks like many others", "look like many others") + "."
	}
	return line
}
