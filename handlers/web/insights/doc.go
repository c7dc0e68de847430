// Package insights has people look back: the page, and its figures as a file.
//
// The address says which requests and which days. A person who oversees nothing looks back on the requests of their own
// agents and on their own decisions; models/insights refuses the rest.
package insights
