// Package text puts a notice into words, for each way that it may go. Names are text of
// strangers: they come out literally, as the pages show them, and never as a link, a mention,
// a line or a header of their own.
package text
