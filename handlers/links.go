package handlers

import (
	"strings"

	"countersign/models"
	"countersign/views"
)

// ApprovalURL is the page of one request under the public URL: what an agent
// hands to the person who is to decide.
func (k Kit) ApprovalURL(id models.ResponseID) string {
	if k.PublicURL == nil {
		return views.ApprovalURL(id)
	}
	return strings.TrimSuffix(k.PublicURL.String(), "/") + views.ApprovalURL(id)
}
