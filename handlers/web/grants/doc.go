// Package grants is pre-approvals: the form on a request, with what one made so would have covered, and
// the list. Making one asks for what approving the request would: its folded parts opened, its
// end seen. A preview makes nothing (I15).
package grants
