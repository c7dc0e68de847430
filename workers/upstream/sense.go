package upstream

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// meaning is what a member of an item means to the person who decides.
type meaning int

const (
	shownAlready  meaning = iota // it says nothing that is not shown already
	worthShowing                 // understood, and worth reading beside the arguments
	notUnderstood                // not understood: it may hold what would run
)

// meaning judges a member of an item, or of its spec, by its value; the name alone says
// nothing. left is the part to show.
func (o itemParts) meaning(name string, v jsontext.Value, inSpec bool) (s meaning, rest jsontext.Value) {
	switch {
	case !holds(v), slices.Contains(argumentNames, name), o.understood(name, v, inSpec):
		return shownAlready, nil
	case name == "channel":
		return channel(v)
	case slices.Contains(questionTexts, name) && v.Kind() == '"',
		name == "reject_options" && optionList(v, "name", "title", "description", "prompt_fill"):
		return worthShowing, v
	}
	return notUnderstood, v
}

// understood reports whether a member has the type that is expected under its name.
func (o itemParts) understood(name string, v jsontext.Value, inSpec bool) bool {
	id, isID := object{"": v}.id("")
	switch name {
	case "id":
		return isID && (id == o.id || id == o.approval)
	case "call_id", "callId":
		return isID && id == o.id
	case "approval_id", "approvalId":
		return isID && id == o.approval
	case "run_id", "runId":
		return isID && id == o.run
	case "tool_use_id", "toolUseId":
		return isID && id == o.use
	case "type":
		return isText(v, o.kind)
	case "spec":
		return !inSpec && o.isObject
	case "status":
		return !inSpec && (isText(v) && slices.Contains(slices.Concat(openWords, over), o.word()) || plainStatus(v))
	case "approved":
		return !inSpec && o.word() != "" && v.Kind() == 'f' // not yet
	}
	if slices.Contains(nameMembers, name) {
		return isText(v, o.name) && !o.twoNames
	}
	return timing(name, v)
}

func isText(v jsontext.Value, want ...string) bool {
	text, ok := object{"": v}.text("")
	return ok && (want == nil || slices.Contains(want, text))
}

// timing reports whether a member says when something was asked or ends, in a form
// that is read. Some write the year 1, or 0, for no time at all.
func timing(name string, v jsontext.Value) bool {
	o := object{"": v}
	switch name {
	case "timeout_seconds":
		return o.count("") != nil
	case "requested_at", "created_at", "timeout_at", "timeoutAt", "expires_at":
		text, _ := o.text("")
		return !o.time("").IsZero() || string(v) == "0" || strings.HasPrefix(text, "0001-01-01")
	}
	return false
}

// plainStatus reports whether a status tells no more than that, since when and how
// long something waits.
func plainStatus(v jsontext.Value) bool {
	status, ok := readObject(v)
	for name, v := range status {
		switch {
		case !holds(v), timing(name, v):
		case name == "slack_message_ts" && handle(v):
		default:
			return false
		}
	}
	return ok
}

// The members of a channel in the cloud dialect: where else that system asks, which does not help a decision, and the
// texts there.
var (
	channelKinds   = []string{"slack", "email", "sms", "whatsapp"}
	channelHandles = []string{
		"channel_or_user_id", "bot_token", "allowed_responder_ids", "thread_ts", "experimental_slack_blocks", "address",
		"references_message_id",
		"in_reply_to_message_id", "phone_number",
	}
	channelTexts = []string{"context_about_channel_or_user", "context_about_user", "subject", "template"}
)

// channel is what a channel tells but addresses and keys.
func channel(v jsontext.Value) (s meaning, remainder jsontext.Value) {
	kinds, ok := readObject(v)
	if !ok {
		return notUnderstood, v
	}
	kept := object{}
	for kind, v := range kinds {
		members, ok := readObject(v)
		switch {
		case !holds(v):
		case !ok || !slices.Contains(channelKinds, kind):
			s, kept[kind] = notUnderstood, v
		default:
			of, rest := channelOf(members)
			if s = max(s, of); rest != nil {
				kept[kind] = rest
			}
		}
	}
	if remainder = kept.json(); remainder == nil && s != shownAlready {
		remainder = v
	}
	return s, remainder
}

func channelOf(members object) (s meaning, rest jsontext.Value) {
	kept := object{}
	for name, v := range members {
		switch {
		case !holds(v), slices.Contains(channelHandles, name) && handle(v):
			continue
		case slices.Contains(channelTexts, name) && isText(v):
			s = max(s, worthShowing)
		default:
			s = notUnderstood
		}
		kept[name] = v
	}
	return s, kept.json()
}

// handle reports whether a value is made for machines: an id, an address, a switch,
// or a list of these.
func handle(v jsontext.Value) bool {
	if list, ok := readArray(v); ok {
		return !slices.ContainsFunc(list, func(v jsontext.Value) bool { return !handle(v) })
	}
	text, ok := object{"": v}.text("")
	return ok && len(text) <= 256 && !strings.ContainsAny(text, " \t\r\n") || strings.ContainsRune("0tf", rune(v.Kind()))
}

// optionList reports whether a value is a list of offered answers that hold these
// texts only.
func optionList(v jsontext.Value, texts ...string) bool {
	list, ok := readArray(v)
	return ok && !slices.ContainsFunc(list, func(v jsontext.Value) bool { return !isOption(v, texts) })
}

func isOption(v jsontext.Value, texts []string) bool {
	o, ok := readObject(v)
	if !ok {
		return isText(v) && holds(v)
	}
	for name, v := range o {
		_, isSwitch := o.boolean(name)
		switch {
		case !holds(v), slices.Contains(texts, name) && isText(v), name == "interactive" && isSwitch:
		default:
			return false
		}
	}
	return holds(o.value("name"))
}

// json is an object again; nil if it is empty.
func (o object) json() jsontext.Value {
	if len(o) == 0 {
		return nil
	}
	raw, err := json.Marshal(o, lenient, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return raw
}
