package lists

// Empty says why there is no row, and what will come.
type Empty struct{ Title, Text string }
