// Package figures are numbers about what became of requests: a Sum of a time, which can be added to another, and a Report
// of sums over a span. It counts nothing itself: models/insights does, and the pages draw them.
package figures
