package models

// MaxBrief is where a Brief cuts a text, in characters: an input may have 256 KiB, and a
// list has fifty.
const MaxBrief = 4096

// Brief is an approval as lists show it: its Context, Preview, Content and ToolInputJSON are their first MaxBrief
// characters, all else is whole. It is a type of its own so that cut text is not taken for the request.
type Brief struct{ Approval }
