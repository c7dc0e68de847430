// Package insights sums what became of requests, by day and by month, for people who look back.
//
// The way of the data: Next does one piece of work that is due, which the expirer asks for: a day that has ended is read
// from the rows (day.go) into Figures, one for all requests and one for each agent, tool, rule and person; a month is the
// sum of its days. Report adds up the days and months of a span, and reads from the rows the days that are not summed
// yet. The sums hold nothing that the rows do not, and a row that changes later (contents that are removed, an expiry
// that is written late) outdates its days (Outdate), which are summed again.
//
// A day is one of the policy's time zone. A change of the zone sums everything again.
package insights
