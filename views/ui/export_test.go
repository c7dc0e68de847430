package ui

import "context"

// Tokens are the stretches of a text as they are coloured, each with its class.
func Tokens(ctx context.Context, language, text string) [][2]string {
	var out [][2]string
	for _, s := range colour(ctx, language, text) {
		out = append(out, [2]string{s.text, s.class})
	}
	return out
}
