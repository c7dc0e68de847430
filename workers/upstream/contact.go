package upstream

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// ask finds the question of a contact: in its spec or beside the ids, or else in
// its arguments. What else is there is kept as Rest.
func (c *Contact) ask(o itemParts) {
	places := []object{o.spec, o.all}
	for _, name := range argumentNames {
		for _, in := range []object{o.spec, o.all} {
			if args, ok := in.object(name); ok {
				places = append(places, args)
			}
		}
	}
	for _, in := range places {
		if text, ok := in.text("msg", "message", "question"); ok && text != "" {
			c.Message = text
			break
		}
	}
	if c.Message == "" {
		c.Rest = c.Raw
		return
	}
	for _, in := range places {
		if c.Subject, _ = in.text("subject"); c.Subject != "" {
			break
		}
	}
	for _, in := range places {
		if c.Options = options(in.value("response_options", "options")); len(c.Options) > 0 {
			break
		}
	}
	c.Rest = c.rest(o)
}

// rest is what a contact sends beside the parts that are shown: the contents of its arguments, another text under a
// second name, and members that are not understood.
func (c *Contact) rest(o itemParts) jsontext.Value {
	rest := rest{}
	o.each(func(name string, v jsontext.Value, inSpec bool) {
		if c.shows(name, v) {
			return
		}
		if s, remainder := o.meaning(name, v, inSpec); s != shownAlready {
			rest.keep(name, remainder)
		}
	})
	for _, name := range argumentNames {
		for _, in := range []object{o.spec, o.all} {
			args, ok := in.object(name)
			if !ok && in.has(name) {
				rest.keep(name, in[name])
			}
			for name, v := range args {
				if args.has(name) && !c.shows(name, v) {
					rest.keep(name, v)
				}
			}
		}
	}
	return rest.json(c.Raw)
}

// questionTexts are those that a question may be made of.
var questionTexts = []string{"msg", "message", "question", "subject"}

// shows reports whether a member is what the contact already shows.
func (c *Contact) shows(name string, v jsontext.Value) bool {
	switch name {
	case "msg", "message", "question":
		return isText(v, c.Message)
	case "subject":
		return isText(v, c.Subject)
	case "response_options", "options":
		return optionList(v, "name", "title") && slices.Equal(options(v), c.Options)
	}
	return false
}
