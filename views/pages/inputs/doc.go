// Package inputs draws what a request asks for, wherever it is drawn: on its page, beside a
// group of requests, in a conversation and where a call is approved ahead.
//
// View is an input as a reader decides on it: Blocks by what its kind makes of it, the whole
// source, and the bytes behind the digest. Folding says how long parts open, and Folds which
// parts must be opened before a decision (see models.PageParts): both come from the same code,
// so that what a vote claims to have shown is what was drawn (I6). Warnings tell what is hidden
// or made to look like something else. Beside them stand the Origin of a request, what links it
// to a call that was reported too, its Twin that was approved before, and Notes about a call.
//
// All of it is untrusted text and goes through views/ui (I13). A change here changes what people
// see before they sign: its tests are the blocks_test, and each request of the gallery.
package inputs
