package views

import "net/url"

// GalleryURL lists every page in every state; only a build with the tag gallery has it.
func GalleryURL() string { return "/dev/gallery" }

// GalleryStateURL shows one page in one state.
func GalleryStateURL(page, state string) string {
	return GalleryURL() + "/" + url.PathEscape(page) + "/" + url.PathEscape(state)
}
