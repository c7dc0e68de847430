//go:build gallery

package server

import fixtures "countersign/views/gallery"

func init() { gallery = fixtures.Pages{} }
