package ui

import "strconv"

// rows is the height of a text area in lines, three unless told.
func rows(n int) string {
	if n <= 0 {
		n = 3
	}
	return strconv.Itoa(n)
}
