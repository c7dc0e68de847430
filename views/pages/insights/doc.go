// Package insights holds the page on which people look back: what became of requests in some days, in numbers, with a
// table behind each chart. The same tables are its file.
package insights
