package store_test

import (
	"testing"
	"time"

	"countersign/models/storetest"
)

// TestALeaseOfAProcessThatEndedIsTakenOverAtOnce: not when its time is over. The lock of one that
// lives keeps it.
func TestALeaseOfAProcessThatEndedIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	one, two := storetest.New(t, storetest.WithDir(dir)), storetest.New(t, storetest.WithDir(dir))
	first, err := one.Holder()
	storetest.Must(t, err)
	second, err := two.Holder()
	storetest.Must(t, err)
	l, err := one.TakeLease(t.Context(), "webhooks", first, time.Hour)
	if err != nil || l == nil {
		t.Fatalf("the first: %v, %v", l, err)
	}
	if l, err := two.TakeLease(t.Context(), "webhooks", second, time.Hour); err != nil || l != nil {
		t.Errorf("while the first lives, the second gets %v, %v", l, err)
	}
	storetest.Must(t, one.Close()) // without giving it back
	after, err := two.TakeLease(t.Context(), "webhooks", second, time.Hour)
	if err != nil || after == nil || after.Number != l.Number+1 {
		t.Errorf("once it has ended, the second gets %v, %v", after, err)
	}
}
