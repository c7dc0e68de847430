package postgres

import (
	"errors"
	"fmt"
	"strings"
)

// functions are those that models/db/dialect.go writes, as PostgreSQL has them: %s are the arguments.
var functions = map[string]string{
	"instr":        `strpos(%s, %s)`,
	"group_concat": ``, // of texts, with or without a text between them
	"datetime":     ``, // with a step only: a day
	"json_extract": ``, // of a member of an object
	"json_object":  ``,
	"json_array":   ``,
	"substr":       ``, // from the end
	"max":          ``, // of several values
	"min":          ``,
}

// call translates a call of a function.
func (t *translation) call(name, arguments node, out []node) ([]node, int, error) {
	var args []string
	for _, arg := range split(arguments.parts) {
		nodes, err := t.walk(arg)
		if err != nil {
			return nil, 0, err
		}
		var s strings.Builder
		write(&s, nodes)
		args = append(args, strings.TrimSpace(s.String()))
	}
	text, err := callOf(strings.ToLower(name.text), args)
	if err != nil {
		return nil, 0, err
	}
	if text == "" {
		text = name.text + "(" + strings.Join(args, ", ") + ")"
	}
	return append(out, node{kind: word, text: text, space: name.space}), 2, nil
}

// callOf is a call in PostgreSQL's language; empty: it is the same there.
func callOf(name string, args []string) (string, error) {
	switch form, ours := functions[name]; {
	case !ours:
		return "", nil
	case form != "":
		if len(args) != strings.Count(form, "%s") {
			return "", fmt.Errorf("%s has %d arguments", name, len(args))
		}
		values := make([]any, len(args))
		for i, arg := range args {
			values[i] = arg
		}
		return fmt.Sprintf(form, values...), nil
	}
	switch name {
	case "max", "min":
		if len(args) < 2 {
			return "", nil
		}
		return map[string]string{"max": "greatest", "min": "least"}[name] + "(" + strings.Join(args, ", ") + ")", nil
	case "substr":
		if len(args) == 2 && strings.HasPrefix(args[1], "-") {
			return `right(` + args[0] + `, ` + args[1][1:] + `)`, nil
		}
		return "", nil
	case "group_concat":
		if len(args) == 1 {
			args = append(args, `','`)
		}
		return `string_agg(CAST(` + args[0] + ` AS text), ` + args[1] + `)`, nil
	case "datetime":
		if len(args) != 2 || args[1] != `'+1 day'` {
			return "", errors.New("datetime is not of a day")
		}
		return `(` + args[0] + ` + interval '1 day')`, nil
	case "json_extract":
		return extract(args)
	default:
		return object(name, args)
	}
}

// ofObject begins what extract makes.
const ofObject = `(CAST(nullif(`

// extract is a member of a JSON object that a text holds: a text, number or NULL.
func extract(args []string) (string, error) {
	if len(args) != 2 || !strings.HasPrefix(args[1], `'$.`) {
		return "", errors.New("json_extract is not of a member")
	}
	return ofObject + args[0] + `, '') AS jsonb) ->> '` + args[1][3:] + `)`, nil
}

// object is a JSON object or array as SQLite writes it: without white space.
func object(name string, args []string) (string, error) {
	var parts []string
	if name == "json_array" {
		for _, arg := range args {
			parts = append(parts, member(arg))
		}
		return `('[' || ` + strings.Join(parts, ` || ',' || `) + ` || ']')`, nil
	}
	if len(args)%2 != 0 {
		return "", errors.New("json_object has a name without a value")
	}
	for i := 0; i < len(args); i += 2 {
		parts = append(parts, `'"`+strings.Trim(args[i], `'`)+`":' || `+member(args[i+1]))
	}
	return `('{' || ` + strings.Join(parts, ` || ',' || `) + ` || '}')`, nil
}

// member is a value in JSON; an object or array of ours is one.
func member(arg string) string {
	if strings.HasPrefix(arg, `('{' || `) || strings.HasPrefix(arg, `('[' || `) {
		return arg
	}
	if strings.HasPrefix(arg, ofObject) {
		return `coalesce(CAST(` + strings.Replace(arg, ` ->> `, ` -> `, 1) + ` AS text), 'null')` // as it is there
	}
	return `coalesce(CAST(to_json(CAST(` + arg + ` AS text)) AS text), 'null')`
}

// split are the arguments of a call.
func split(parts []node) [][]node {
	if len(parts) == 0 {
		return nil
	}
	out := [][]node{nil}
	for _, p := range parts {
		if p.kind == sign && p.text == "," {
			out = append(out, nil)
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}
