package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// What keeps contents for less time begins a day after it was saved, whatever was saved in
// between; what keeps them longer begins at once.
func TestRetentionBeginsADayLater(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)
	at := func(hours int, days int) store.RetentionStep {
		return store.RetentionStep{At: day.Add(time.Duration(hours) * time.Hour), Days: days}
	}
	for _, tt := range []struct {
		name  string
		steps []store.RetentionStep // the newest first
		now   int                   // hours
		want  string
	}{
		{"never", []store.RetentionStep{at(0, 0)}, 1, "0"},
		{"for long", []store.RetentionStep{at(0, 30)}, 100, "30"},
		{"started", []store.RetentionStep{at(0, 30), at(-100, 0)}, 1, "0, 30 from 24"},
		{"begun", []store.RetentionStep{at(0, 30), at(-100, 0)}, 24, "30"},
		{"shortened", []store.RetentionStep{at(0, 7), at(-100, 30)}, 23, "30, 7 from 24"},
		{"made longer", []store.RetentionStep{at(0, 90), at(-100, 30)}, 1, "90"},
		{"taken back", []store.RetentionStep{at(2, 0), at(0, 30), at(-100, 0)}, 3, "0"},
		{"shortened twice", []store.RetentionStep{at(10, 7), at(0, 30), at(-100, 0)}, 12, "0, 7 from 34"},
		{"the first step has begun", []store.RetentionStep{at(10, 7), at(0, 30), at(-100, 0)}, 25, "30, 7 from 34"},
		{"another change in between", []store.RetentionStep{at(5, 30), at(0, 30), at(-100, 0)}, 20, "0, 30 from 24"},
		{"taken back and started again", []store.RetentionStep{at(6, 30), at(2, 0), at(0, 30), at(-100, 0)}, 25, "0, 30 from 30"},
	} {
		got := store.RetentionOf(tt.steps, day.Add(time.Duration(tt.now)*time.Hour))
		text := fmt.Sprint(got.Days)
		if !got.Begins.IsZero() {
			text += fmt.Sprintf(", %d from %d", got.Next, int(got.Begins.Sub(day).Hours()))
		}
		if text != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, text, tt.want)
		}
	}
}

func TestARetentionIsCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	read := func() store.Retention {
		t.Helper()
		got, err := s.Retention(t.Context())
		storetest.Must(t, err)
		return got
	}
	wantCode(t, storetest.Err(s.KeepLonger(t.Context(), admin)), models.CodeConflict)
	clock.Step(100 * time.Hour)
	_, err := s.ApplyPolicy(t.Context(), admin, []byte(`{"retention_days":30}`), "", 0)
	storetest.Must(t, err)
	began := clock.Now()
	if got := read(); got.Days != 0 || got.Next != 30 || !got.Begins.Equal(began.Add(24*time.Hour)) {
		t.Errorf("%+v", got)
	}
	for name, who := range storetest.WhoMayNot(t, s) {
		wantCode(t, storetest.Err(s.KeepLonger(t.Context(), who)), models.CodeForbidden)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	v, err := s.KeepLonger(t.Context(), admin)
	storetest.Must(t, err)
	if got := read(); v.Program.Document().RetentionDays != 0 || got != (store.Retention{}) {
		t.Errorf("%+v", got)
	}
	_, err = s.ApplyPolicy(t.Context(), admin, []byte(`{"retention_days":7}`), "", 0)
	storetest.Must(t, err)
	clock.Step(25 * time.Hour)
	if got := read(); got != (store.Retention{Days: 7}) {
		t.Errorf("%+v", got)
	}
}
