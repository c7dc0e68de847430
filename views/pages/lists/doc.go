// Package lists holds what lists of several areas share beside their rows: the pager, the fold
// of filters, choices of agents, tools, days and time zones, and what an empty list says.
//
// A table itself is ui.ListTable, and its columns and rows belong to the area that lists them.
package lists
