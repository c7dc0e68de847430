package outcomes

import (
	"countersign/models"
)

// Choice is one offered answer: what its button reads, and the name that it
// releases, which is shown too where it reads otherwise.
type Choice struct {
	Name, Title, Releases string

	Means string // what its sender says that it means
	Fills bool   // its button fills in a text first
}

// Choices are the answers that a request offers.
func Choices(r *models.Response) []Choice {
	if r.Options == "" {
		return nil
	}
	options, err := r.OptionList()
	if err != nil {
		return nil
	}
	return choicesOf(options)
}

// RejectChoices are the buttons of the agent's own that reject a call.
func RejectChoices(r *models.Response) []Choice {
	options, err := r.RejectOptions()
	if err != nil {
		return nil
	}
	return choicesOf(options)
}

func choicesOf(options []models.Option) []Choice {
	// Such options are refused when an agent sends them; another system's are not ours to refuse.
	alike := models.CheckOptions("options", options) != nil
	out := make([]Choice, 0, len(options))
	for _, o := range options {
		name := models.RevealString(o.Name, false)
		c := Choice{Name: o.Name, Title: name, Means: o.Description, Fills: o.PromptFill != ""}
		if title := models.RevealString(o.Title, false); title != "" && title != name && !alike {
			c.Title, c.Releases = title, name
		}
		out = append(out, c)
	}
	return out
}
