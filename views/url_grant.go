package views

import "countersign/models"

// GrantsPageURL lists grants, going on after a page's key (empty: from the
// start).
func GrantsPageURL(after string) string { return with(GrantsURL(), "after", after) }

// GrantPageURL shows one grant, its calls going on after a page's key (empty:
// from the start).
func GrantPageURL(id models.GrantID, after string) string { return with(GrantURL(id), "after", after) }
