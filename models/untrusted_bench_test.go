package models_test

import (
	"strings"
	"testing"

	"countersign/models"
)

func BenchmarkReveal(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("rm -rf build/ && make\n", 12000),
		"latin":   strings.Repeat("größer naïve ", 17000),
		"cjk":     strings.Repeat("東京タワーです ", 12000),
		"hebrew":  strings.Repeat("עברית שלום ", 12000),
		"marks":   strings.Repeat("e\u0301a\u0300 ", 37000),
		"summary": "rm -rf build/ && make",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				models.Reveal(text, true)
			}
		})
	}
}
