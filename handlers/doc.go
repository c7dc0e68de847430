// Package handlers is what all surfaces share: errors to HTTP, who asks, which
// Host is answered to, request ids, the access log. A surface only translates
// between its own words and the use cases of models/store.
package handlers
