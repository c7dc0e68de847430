package models_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
)

// wantField checks that an error is of a code and names the field, and no other.
func wantField(t *testing.T, err error, code models.Code, field string) {
	t.Helper()
	e, ok := err.(*models.Error)
	if !ok || e.Code != code {
		t.Fatalf("error = %v, want %s", err, code)
	}
	if len(e.Fields) != 1 || e.Fields[field] == "" {
		t.Errorf("fields = %v, want %s", e.Fields, field)
	}
}

func TestBudgetArithmetic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		total          *int64
		used, reserved int64
		left           *int64
		exhausted, low bool
	}{
		{"unlimited", nil, math.MaxInt32, 7, nil, false, false},
		{"fresh", new(int64(50)), 0, 0, new(int64(50)), false, false},
		{"just below four fifths", new(int64(50)), 39, 0, new(int64(11)), false, false},
		{"four fifths", new(int64(50)), 40, 0, new(int64(10)), false, true},
		{"four fifths with what is reserved", new(int64(50)), 30, 10, new(int64(10)), false, true},
		{"four fifths that are no whole number", new(int64(3)), 2, 0, new(int64(1)), false, false},
		{"spent", new(int64(50)), 50, 0, new(int64(0)), true, true},
		{"reserved to the end", new(int64(50)), 20, 30, new(int64(0)), true, true},
		{"lowered below what is used", new(int64(10)), 50, 0, new(int64(0)), true, true},
		{"none to spend", new(int64(0)), 0, 0, new(int64(0)), true, true},
		{"the largest", new(int64(models.MaxBudget)), models.MaxBudget - 1, 0, new(int64(1)), false, true},
		{"more used than a hundred times would fit", new(int64(models.MaxBudget)), math.MaxInt64 / 4, 0, new(int64(0)), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := models.Budget{Total: tt.total, Used: tt.used, Reserved: tt.reserved}
			left := b.Remaining()
			if (left == nil) != (tt.left == nil) || (left != nil && *left != *tt.left) {
				t.Errorf("remaining = %v", left)
			}
			if b.Exhausted() != tt.exhausted || b.Low() != tt.low {
				t.Errorf("exhausted %v, low %v; want %v, %v", b.Exhausted(), b.Low(), tt.exhausted, tt.low)
			}
		})
	}
}

func TestBudgetChangeApplies(t *testing.T) {
	t.Parallel()
	n := func(i int64) *int64 { return &i }
	for _, tt := range []struct {
		name     string
		standing *int64
		change   models.BudgetChange
		want     int64
		code     models.Code
		field    string
	}{
		{"set where none stands", nil, models.BudgetChange{Set: n(50)}, 50, "", ""},
		{"set", n(10), models.BudgetChange{Set: n(50)}, 50, "", ""},
		{"set to nothing", n(10), models.BudgetChange{Set: n(0)}, 0, "", ""},
		{"set to the most", n(10), models.BudgetChange{Set: n(models.MaxBudget)}, models.MaxBudget, "", ""},
		{"add", n(50), models.BudgetChange{Delta: n(50)}, 100, "", ""},
		{"take away", n(50), models.BudgetChange{Delta: n(-20)}, 30, "", ""},
		{"take away more than there is", n(50), models.BudgetChange{Delta: n(-80)}, 0, "", ""},
		{"take away the most", n(50), models.BudgetChange{Delta: n(-models.MaxBudget)}, 0, "", ""},
		{"a step of nothing", n(50), models.BudgetChange{Delta: n(0)}, 50, "", ""},
		{"a negative budget", n(50), models.BudgetChange{Set: n(-1)}, 0, models.CodeInvalid, "newBudget"},
		{"an absurd budget", n(50), models.BudgetChange{Set: n(models.MaxBudget + 1)}, 0, models.CodeInvalid, "newBudget"},
		{"the largest number", nil, models.BudgetChange{Set: n(math.MaxInt64)}, 0, models.CodeInvalid, "newBudget"},
		{"an absurd step", n(50), models.BudgetChange{Delta: n(models.MaxBudget + 1)}, 0, models.CodeInvalid, "budgetChange"},
		{"an absurd step down", n(50), models.BudgetChange{Delta: n(math.MinInt64)}, 0, models.CodeInvalid, "budgetChange"},
		{"a step above the most", n(1), models.BudgetChange{Delta: n(models.MaxBudget)}, 0, models.CodeInvalid, "budgetChange"},
		{"both", n(50), models.BudgetChange{Set: n(1), Delta: n(1)}, 0, models.CodeInvalid, "budgetChange"},
		{"neither", n(50), models.BudgetChange{}, 0, models.CodeInvalid, "newBudget"},
		{"a step where none stands", nil, models.BudgetChange{Delta: n(5)}, 0, models.CodeNoBudget, "budgetChange"},
		{"a step down where none stands", nil, models.BudgetChange{Delta: n(-5)}, 0, models.CodeNoBudget, "budgetChange"},
		{"an absurd step where none stands", nil, models.BudgetChange{Delta: n(math.MaxInt64)}, 0, models.CodeInvalid, "budgetChange"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.change.Apply(tt.standing, "newBudget", "budgetChange")
			if tt.code != "" {
				wantField(t, err, tt.code, tt.field)
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestBudgetAskedReadsWhatBudgetInputWrites(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 75, models.MaxBudget} {
		if got, err := models.BudgetAsked([]byte(models.BudgetInput(n))); err != nil || got != n {
			t.Errorf("%d is read as %d, %v", n, got, err)
		}
	}
	if got, err := models.BudgetAsked([]byte(` { "budget" : 1e2 } `)); err != nil || got != 100 {
		t.Errorf("an edited input: %d, %v", got, err)
	}
}

func TestBudgetAskedRefuses(t *testing.T) {
	t.Parallel()
	for input, field := range map[string]string{
		``: "input", `5`: "input", `null`: "input", `[]`: "input", `{}`: "input", `{"budget":5`: "input", `{"Budget":5}`: "input",
		`{"budget":5,"x":1}`: "input", `{"budget":5,"budget":6}`: "input", `{"budget":NaN}`: "input", `{"budget":Infinity}`: "input",
		`{"budget":null}`: "input.budget", `{"budget":"5"}`: "input.budget", `{"budget":1.5}`: "input.budget", `{"budget":true}`: "input.budget",
		`{"budget":-1}`: "input.budget", `{"budget":1000000000001}`: "input.budget", `{"budget":1e400}`: "input.budget",
		`{"budget":99999999999999999999}`: "input.budget", `{"budget":5.000000000000000000001}`: "input.budget",
	} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			_, err := models.BudgetAsked([]byte(input))
			wantField(t, err, models.CodeInvalid, field)
		})
	}
}

func FuzzWholeNumber(f *testing.F) {
	for _, s := range []string{`0`, `-0`, `5.0`, `5e0`, `50e-1`, `5e-1`, `1e400`, `1e-400`, `0e999999999999`, `1E3`, `9223372036854775807`, `1000000000000.00001`, `"5"`, `null`, `5.00000000000000000000001`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.Trim(s, " \t\r\n") // which JSON allows around a value
		n, err := models.WholeNumber("n", []byte(s))
		if err != nil {
			if models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("%q: %v", s, err)
			}
			if plain, perr := strconv.ParseInt(s, 10, 64); perr == nil && strconv.FormatInt(plain, 10) == s {
				t.Errorf("%q is refused: %v", s, err)
			}
			return
		}
		back, err := strconv.ParseFloat(s, 64)
		if err != nil || back != float64(n) {
			t.Errorf("%q is read as %d (%v)", s, n, err)
		}
	})
}
