package views

// GoURL leads to what a text finds: pages, agents, conversations and requests. An empty
// text: to all pages.
func GoURL(text string) string { return with("/go", "q", text) }
