//go:build gallery

package cmd

import fixtures "countersign/views/gallery"

func init() { gallery = fixtures.Pages{} }
