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
	{"Move through the list", []key{
		{[]string{"j", "k"}, "/", "Next, previous request"},
		{[]string{"↓", "↑"}, "/", "Next, previous row, once the list has the focus (Tab)"},
		{[]string{"Home", "End"}, "/", "First, last row of the list"},
		{[]string{"Enter"}, "", "Open the request on its own page; in the list, beside it"},
		{[]string{"o"}, "", "Open or close a group"},
		{[]string{"n"}, "", "Jump to the most urgent new request, else to the newest"},
		{[]string{"/"}, "", "Search"},
	}},
	{"Decide the open request", []key{
		{[]string{"a"}, "", "Approve"},
		{[]string{"r"}, "", "Reject: write a reason, then press Ctrl+Enter"},
		{[]string{"e"}, "", "Edit, then approve"},
		{[]string{"u"}, "", "Undo an approval before it is sent"},
		{[]string{"s"}, "", "Show or hide all of the source"},
	}},
	{"Several at once", []key{
		{[]string{"x"}, "", "Select the current request"},
		{[]string{"Shift", "A"}, "+", "Approve the selected requests"},
		{[]string{"Shift", "R"}, "+", "Reject the selected requests: write a reason, then press Ctrl+Enter"},
	}},
	{"Go to", []key{
		{[]string{"Ctrl", "K"}, "+", "Search or go to… (on a Mac ⌘K)"},
		{[]string{"g", "i"}, "then", "Inbox"},
		{[]string{"g", "c"}, "then", "Conversations"},
		{[]string{"g", "h"}, "then", "History"},
		{[]string{"?"}, "", "Show or hide these shortcuts"},
		{[]string{"Esc"}, "", "Leave a field, close a dialog, clear the selection"},
	}},
}
