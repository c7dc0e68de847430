package requests

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/pages/inputs"
	"countersign/views/ui"
)

// Fields of the forms that approve what can do much harm.
const (
	ConfirmedField = "confirmed" // "true": the approval was confirmed
	CancelField    = "cancel"    // set: it was not, and the form is shown again
)

// ConfirmInput is an approval that waits to be confirmed.
type ConfirmInput struct {
	URL     string     // where it was sent
	Sent    url.Values // the form as sent
	Input   []byte     // the edited input; nil: it was not edited
	OwnPage bool       // it did not come from the card of the request
}

// Confirm is the view of it.
type Confirm struct {
	URL    string
	Plain  bool   // the answer is a page of its own
	Does   string // the act on the request that is quoted after it
	After  string // ends the question, after the quotation
	Edited bool   // the headline is of the request as it was sent, not of the approved input
	Hidden []HiddenField
	Source ui.Code
	Other  ui.Code    // what another system asks with
	Beside ui.Code    // what it sends beside that
	Sum    string     // the budget that it sets; empty: none
	Blocks []ui.Block // the layout of the input, or of the edited one
}

// HiddenField is a field of the sent form, to be sent again.
type HiddenField struct{ Name, Value string }

func (v *Approval) confirm(in Input, r *models.Response) {
	c := in.Confirm
	if c == nil {
		return
	}
	out := &Confirm{URL: c.URL, Plain: c.OwnPage, Does: "Approve", After: v.asks(""), Source: v.Whole}
	out.Other, out.Beside, out.Blocks = v.Other, v.Beside, slices.Clone(v.Blocks)
	for _, c := range [...]*ui.Code{&out.Source, &out.Other, &out.Beside} {
		c.Opened, c.Part, c.End = true, "", ""
	}
	switch {
	case c.Sent.Get(BreakGlassField) == "true" && c.Input == nil:
		out.After = v.asks("alone, without the signatures of the others")
	case c.Input != nil && r.Kind == models.KindBudget:
		out.Sum = in.Form.Sum
	case v.Offer != nil && in.Form.SetBudget:
		out.After, out.Sum = v.asks("and set the budget to "+v.Offer.named(in.Form)), in.Form.NewBudget
	case c.Input != nil:
		out.Does, out.Edited = "Approve as edited?", true
		if c.Sent.Get(BreakGlassField) == "true" {
			out.Does = "Approve the edit alone, without the signatures of the others?"
		}
		out.Source.Label, out.Source.Text, out.Source.Size = "Edited input", inputs.Indent(c.Input), ""
		edited := *r
		edited.ToolInputJSON = string(c.Input)
		out.Blocks, _, _ = inputs.Blocks(&edited, inputs.CanonicalInput(&edited))
	case c.Sent.Get("verdict") == ApproveAndRule:
		out.After = v.asks("and make a rule from it")
	case v.Question:
		out.Does, out.After = "Answer", v.asks("with “"+models.RevealString(v.answerOf(c.Sent), true)+"”")
	}
	for i := range out.Blocks {
		b := &out.Blocks[i]
		b.Opened, b.Part, b.End = true, "", ""
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sent)) {
		if name == ConfirmedField || name == inputs.SeenEndField || name == CancelField {
			continue
		}
		for _, value := range c.Sent[name] {
			out.Hidden = append(out.Hidden, HiddenField{name, value})
		}
	}
	v.Confirm = out
}

// asks ends the question whether to do something with the request that is quoted before
// it: how says what else is done. A quotation that asks needs no second question mark.
func (v *Approval) asks(how string) string {
	switch {
	case how != "":
		return " " + how + "?"
	case strings.HasSuffix(v.Quote, "?"):
		return ""
	}
	return "?"
}

// answerOf is the answer that a form gives to a question, as it reads.
func (v *Approval) answerOf(sent url.Values) string {
	if !sent.Has("option") {
		return sent.Get("answer")
	}
	for _, c := range v.Options {
		if c.Name == sent.Get("option") && c.Title != c.Name {
			return c.Title + " (" + c.Name + ")"
		}
	}
	return sent.Get("option")
}

// answersAt are the attributes of the confirmation's form.
func (v Approval) answersAt() templ.Attributes {
	if v.Confirm.Plain {
		return templ.Attributes{"method": "post", "action": v.Confirm.URL}
	}
	return v.sends(v.Confirm.URL)
}

// endsOf names the ends of a request's content. Other content has another name, so the ends that were seen of one do
// not count for the other.
func endsOf(r *models.Response) string { return string(r.ID) + " " + r.Digest }

// markEnds marks the last lines that must have been in view before a request that
// can do much harm is approved.
func (v *Approval) markEnds(r *models.Response) {
	if !v.Arms || !v.Pending {
		return
	}
	v.Ends = endsOf(r)
	parts := models.PageParts{
		Source: inputs.PartOf(v.Whole, true), Other: inputs.PartOf(v.Other, v.Other.Text != ""),
		Beside: inputs.PartOf(v.Beside, v.Beside.Text != ""),
	}
	drawn := []*ui.Code{&v.Whole, &v.Other, &v.Beside}
	for i := range v.Blocks {
		parts.Blocks = append(parts.Blocks, models.PagePart{Name: v.Blocks[i].Part})
		drawn = append(drawn, &v.Blocks[i].Code)
	}
	see := parts.ToSee()
	for _, c := range drawn {
		if slices.Contains(see, c.Part) {
			c.End = v.end(c.Part)
		}
	}
}

// end names the end of a part; empty: it need not be seen.
func (v Approval) end(part string) string {
	if v.Ends == "" {
		return ""
	}
	return v.Ends + " " + part
}
