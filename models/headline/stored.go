package headline

import (
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// stored is a headline as it is kept in the row of its request.
type stored struct {
	Lead   string   `json:"lead,omitzero"`
	Begin  string   `json:"begin,omitzero"`
	Left   int      `json:"left,omitzero"` // characters between beginning and end
	End    string   `json:"end,omitzero"`
	Tail   string   `json:"tail,omitzero"`
	Cut    bool     `json:"cut,omitzero"`
	Hidden []string `json:"hidden,omitzero"`
	More   int      `json:"more,omitzero"`
	Unseen bool     `json:"unseen,omitzero"`
	Odd    bool     `json:"odd,omitzero"`
}

// Stored is the headline as it is kept.
func (h Headline) Stored() string {
	hidden := make([]string, len(h.Hidden))
	for i, name := range h.Hidden {
		hidden[i] = models.StoredText(name)
	}
	b, err := json.Marshal(stored{
		Lead: models.StoredText(h.Lead), Begin: models.StoredText(h.rest.begin), Left: h.rest.gap,
		End: models.StoredText(h.rest.end), Tail: models.StoredText(h.Tail), Cut: h.Cut, Hidden: hidden,
		More: h.More, Unseen: h.Unseen, Odd: h.Odd,
	})
	if err != nil {
		return "" // it is then made of the row
	}
	return string(b)
}

// Shown is the headline of a request as it was stored at the ask. It is made here only of an older row without one,
// which lists have read whole, and of a row in memory.
func Shown(r *models.Response) Headline {
	if r.IsRemoved() || r.HeadlineJSON == "" {
		return Of(r)
	}
	var s stored
	if json.Unmarshal([]byte(r.HeadlineJSON), &s) != nil {
		return Of(r)
	}
	rest := parted{begin: s.Begin, end: s.End, gap: s.Left}
	return Headline{
		Lead: s.Lead, Rest: rest.String(), Tail: s.Tail, Cut: s.Cut, Hidden: s.Hidden, More: s.More, Unseen: s.Unseen,
		Odd: s.Odd, rest: rest,
	}
}

// Edited is the headline of the approved edit; false: there is none. No read cuts that input, and a digest proves it,
// so it is made of it each time.
func Edited(a *models.Approval) (Headline, bool) {
	input, edit := a.Vote.ApprovedInput()
	if !edit {
		return Headline{}, false
	}
	r := a.Response
	r.ToolInputJSON, r.UpstreamID, r.InputBytes = input, nil, nil
	return Of(&r), true
}

// Alike is the same for calls that look alike in a list: of one tool and risk, whose headlines begin with the same word.
func Alike(r *models.Response) string {
	does, _, _ := strings.Cut(Shown(r).Text(), " ")
	return r.ToolName + "\n" + string(r.Risk) + "\n" + does
}
