package views

// keyGroup is one part of the list of keys.
type keyGroup struct {
	title string
	keys  []key
}

// key is what a person may press, and what it does.
type key struct {
	names   []string
	between string // how the names go together
	does    string
}

var keyGroups = []keyGroup{
	{"Go through the list", []key{
		{[]string{"j", "k"}, "/", "Next, previous request"},
		{[]string{"Enter"}, "", "Open it as a page"},
		{[]string{"n"}, "", "Jump to the newest"},
		{[]string{"/"}, "", "Search"},
	}},
	{"Decide what is shown", []key{
		{[]string{"a"}, "", "Approve"},
		{[]string{"r"}, "", "Reject: write why, then Ctrl+Enter"},
		{[]string{"e"}, "", "Edit, then approve"},
		{[]string{"u"}, "", "Take an approval back, while it is held"},
	}},
	{"Several at once", []key{
		{[]string{"x"}, "", "Tick the selected request"},
		{[]string{"Shift", "A"}, "+", "Approve what is ticked"},
		{[]string{"Shift", "R"}, "+", "Reject what is ticked: write why, then Ctrl+Enter"},
	}},
	{"Go", []key{
		{[]string{"Ctrl", "K"}, "+", "Search or go to… (on a Mac ⌘K)"},
		{[]string{"g", "i"}, "then", "Inbox"},
		{[]string{"g", "c"}, "then", "Conversations"},
		{[]string{"g", "h"}, "then", "History"},
		{[]string{"?"}, "", "Show or hide the keys"},
		{[]string{"Esc"}, "", "Leave a field, close, clear the ticks"},
	}},
}
