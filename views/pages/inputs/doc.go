// Package inputs draws what a request asks for, wherever it is drawn: on its page, beside a group of requests, in a
// conversation and where a call is approved ahead.
//
// View is an input as a reader decides on it: Blocks by what its kind makes of it, the whole source, and the bytes
// behind the digest. Folding says how long parts open, and Folds which parts must be opened before a decision (see
// models.PageParts): both come from the same code, so that a vote claims to have shown only drawn parts (I6). Warnings
// name hidden text and text that looks like something else. Beside them are the Origin of a request, which links it to
// a call that was reported too, its Twin that was approved before, and Notes about a call.
//
// All of it is untrusted text and goes through views/ui (I13). A change here changes what people see before they sign:
// its tests are the blocks_test, and each request of the gallery.
package inputs
