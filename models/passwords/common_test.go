package passwords_test

import (
	"strings"
	"testing"

	"countersign/models/passwords"
)

func TestCommon(t *testing.T) {
	own := []string{"ada.lovelace", "countersign"}
	for password, want := range map[string]bool{
		"password1234":                 true,
		"Password!2026":                true,
		"p@ssw0rd1234":                 true,
		"123456789012":                 true,
		"qwertyuiop12":                 true,
		"passwordpassword":             true,
		"aaaaaaaaaaaa":                 true,
		"abcdefghijkl":                 true,
		"zyxwvutsrqponm":               true,
		"Countersign1!":                true,
		"Ada.Lovelace1815":             true,
		"12345678901234567890":         true,
		"correct horse battery":        false,
		"the quick brown fox":          false,
		"839201748265":                 false,
		"ein langer deutscher Satz":    false,
		"пароль-который-никто":         false,
		strings.Repeat("kq3", 4) + "!": false,
	} {
		if got := passwords.Common(password, own...); got != want {
			t.Errorf("%q: common = %v, want %v", password, got, want)
		}
	}
}
