package webhooks

import (
	"strings"
	"testing"

	"countersign/models"
)

func TestAnInputIsSentAsItIsOrLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored, want string
		tooLarge           bool
	}{
		{"as sent", `{"b": 1.50, "a": "\u0041"}`, `{"b": 1.50, "a": "\u0041"}`, false},
		{"kept cut", `{"a": "b`, `"{\"a\": \"b"`, false},
		{"too large", `"` + strings.Repeat("x", models.MaxWebhookInput) + `"`, "", true},
	} {
		got, tooLarge := inputOf(c.stored)
		if string(got) != c.want || tooLarge != c.tooLarge {
			t.Errorf("%s: %.100s, %v", c.name, got, tooLarge)
		}
	}
}
