// Package web is the pages: what people see and press in a browser. It knows
// people by their session's cookie and never reads Authorization; every form
// works without script.
package web
