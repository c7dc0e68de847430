package pages

// InboxEmpty says why there is no row, and what will come.
type InboxEmpty struct{ Title, Text string }
