package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
	"countersign/models/policy"
	"countersign/models/store"
)

// policyDocument is a document as the command line names it: a file, or members.
type policyDocument struct {
	note    string
	replace bool
	set     []string
}

func (o *policyDocument) flags(c *cobra.Command) {
	c.Flags().BoolVar(&o.replace, "replace", false, "give members that the document leaves out their default values")
	c.Flags().StringArrayVar(&o.set, "set", nil, "a member instead of a file, as NAME=JSON or NAME=TEXT; may be repeated")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(o.set) > 0 {
			return cobra.NoArgs(c, args)
		}
		return cobra.ExactArgs(1)(c, args)
	}
}

// overActive is the document as it is to be applied to the active version.
func (o *policyDocument) overActive(c *cobra.Command, args []string, active store.PolicyVersion) ([]byte, error) {
	was, err := active.Program.Document().Marshal()
	if err != nil {
		return nil, err
	}
	return o.over(c, args, was)
}

func (o *policyDocument) over(c *cobra.Command, args []string, active []byte) ([]byte, error) {
	raw, err := o.read(c, args)
	if err != nil || o.replace {
		return raw, err
	}
	return policy.Over(raw, active)
}

func (o *policyDocument) read(c *cobra.Command, args []string) ([]byte, error) {
	if len(o.set) == 0 {
		return readDocument(c, args[0])
	}
	members := map[string]jsontext.Value{}
	for _, one := range o.set {
		name, text, found := strings.Cut(one, "=")
		if !found || name == "" {
			return nil, errors.New("--set: must be NAME=JSON or NAME=TEXT")
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("--set: names %s twice", terminal.Plain(name))
		}
		value := jsontext.Value(text)
		if !value.IsValid() {
			quote, err := jsontext.AppendQuote(nil, text)
			if err != nil {
				return nil, fmt.Errorf("--set: %s: must be valid UTF-8", terminal.Plain(name))
			}
			value = quote
		}
		members[name] = value
	}
	return json.Marshal(members, json.Deterministic(true))
}
