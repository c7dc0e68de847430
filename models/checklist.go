package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Checklist is the list that an approver of the request has to tick, frozen at the ask (I12).
func (r *Response) Checklist() []string {
	if r.ChecklistJSON == "" {
		return nil
	}
	var items []string
	if err := json.Unmarshal([]byte(r.ChecklistJSON), &items); err != nil {
		return []string{r.ChecklistJSON} // what can't be read is still something to look at
	}
	return items
}

// SetTemplates freezes what templates say of a request that waits.
func (r *Response) SetTemplates(checklist []string, text string) {
	r.ChecklistJSON, r.TemplateText = "", text
	if len(checklist) == 0 {
		return
	}
	if raw, err := json.Marshal(checklist); err == nil { // texts always encode
		r.ChecklistJSON = string(raw)
	}
}

// DecidedAlone reports whether calls like this one are always decided one by one: no
// pre-approval covers them.
func (r *Response) DecidedAlone() bool {
	return r.Risk.DecidedAlone() || r.Template != "" || r.ChecklistJSON != ""
}

// TickAll is what a person reads who approves before every item is ticked.
const TickAll = "Tick every item before you approve."

// Ticks are the items of the checklist that were ticked, in order and each once, as they
// are stored: all of them, or this fails with CodeInvalid for the field checked.
func (r *Response) Ticks(ticks []int) (string, error) {
	items := r.Checklist()
	var gaps []string
	for i := range items {
		if !slices.Contains(ticks, i) {
			gaps = append(gaps, strconv.Itoa(i))
		}
	}
	wrong := func(format string, args ...any) error {
		return &Error{Code: CodeInvalid, Text: TickAll, Fields: map[string]string{"checked": fmt.Sprintf(format, args...)}}
	}
	switch {
	case slices.ContainsFunc(ticks, func(n int) bool { return n < 0 || n >= len(items) }):
		return "", Invalid("checked", "names an item that is not on the checklist, which has %d; they are numbered from 0",
			len(items))
	case len(gaps) > 0:
		return "", wrong("must list every item of the checklist by its number, from 0 to %d; missing: %s", len(items)-1,
			strings.Join(gaps, ", "))
	case len(items) == 0:
		return "", nil
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(ticks)))
	raw, err := json.Marshal(numbers)
	if err != nil {
		return "", fmt.Errorf("write what was ticked: %w", err)
	}
	return string(raw), nil
}

// Ticked are the numbers of the items that the voter ticked.
func (v *Vote) Ticked() []int {
	var out []int
	if v.Checked != "" {
		_ = json.Unmarshal([]byte(v.Checked), &out) // the store wrote it
	}
	return out
}

// TickedIn are the numbers of the items that an entry of the ledger says were ticked.
func TickedIn(e *Entry) []int {
	var data struct {
		Checked []int `json:"checked"`
	}
	_ = json.Unmarshal([]byte(e.Data), &data) // what says nothing of ticks has none
	return data.Checked
}

// TickedItems are the texts of what a voter ticked on this request's checklist.
func (r *Response) TickedItems(v *Vote) []string {
	if v == nil {
		return nil
	}
	return r.ItemsOf(v.Ticked())
}

// ItemsOf are the texts of items of the checklist, by their numbers.
func (r *Response) ItemsOf(numbers []int) []string {
	var out []string
	items := r.Checklist()
	for _, i := range numbers {
		if i >= 0 && i < len(items) {
			out = append(out, items[i])
		}
	}
	return out
}
