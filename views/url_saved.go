package views

import (
	"strings"

	"countersign/models"
)

// lists are the addresses of the lists on which views are saved.
var lists = map[models.List]string{
	models.ListHistory: HistoryURL(), models.ListAudit: AuditURL(), models.ListEverything: LedgerURL(LedgerFilter{}, 0),
}

// ListURL is a list narrowed by a query.
func ListURL(list models.List, query string) string { return under(lists[list], query) }

// SaveViewURL takes the POST that saves the list as the query narrows it, by the name in its form.
func SaveViewURL(list models.List, query string) string { return under(lists[list]+"/views", query) }

// RemoveViewURL takes the POST that removes the view of the name in its form, and leads back to the list.
func RemoveViewURL(list models.List, query string) string {
	return under(lists[list]+"/views/remove", query)
}

func under(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

func queryOf(address string) string {
	_, query, _ := strings.Cut(address, "?")
	return query
}
