package views

import (
	"net/url"

	"countersign/models"
)

// AwayURL shows when a person is away and who acts for them, and takes the POST that plans
// an absence.
func AwayURL() string { return "/account/away" }

// PeopleAwayURL is AwayURL for admins, of everybody.
func PeopleAwayURL() string { return PeopleURL() + "/away" }

// EndAbsenceURL takes the POST that ends an absence, on one of these pages.
func EndAbsenceURL(page string, id models.AbsenceID) string {
	return page + "/" + url.PathEscape(string(id)) + "/end"
}

// SubstitutesURL takes the POST that names a substitute, on one of these pages.
func SubstitutesURL(page string) string { return page + "/substitutes" }

// SubstituteURL takes the POST that accepts or removes a substitute.
func SubstituteURL(page string, id models.SubstituteID, what string) string {
	return SubstitutesURL(page) + "/" + url.PathEscape(string(id)) + "/" + what
}
