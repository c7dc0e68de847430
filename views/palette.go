package views

// paletteAct is what the palette offers for the one request on the page: it leads to the
// page's own button or opens its form, where the person decides.
type paletteAct struct{ name, icon, label, note string }

var paletteActs = []paletteAct{
	{"approve", "check", "Approve…", "goes to the button"},
	{"answer", "check", "Answer…", "goes to the answers"},
	{"reject", "x", "Reject…", "opens the reasons"},
	{"edit", "sliders-horizontal", "Edit, then approve…", "opens the form"},
	{"ask", "messages-square", "Ask a question…", "opens the form"},
}
