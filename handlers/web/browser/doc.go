// Package browser has the tests that need a browser, of all areas: one browser serves them all, a tab
// of its own each. What a page writes to its console as an error fails the test.
package browser
