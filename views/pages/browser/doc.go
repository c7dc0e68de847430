// Package browser looks at every screen of the gallery in a browser: contrast, widths, fonts,
// keyboard, screen readers, and pages without script. It has tests only, apart from those of
// the areas, so that to run theirs no browser is needed.
package browser
