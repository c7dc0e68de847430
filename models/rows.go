package models

import (
	"strconv"
	"strings"
	"time"
)

// RowFault is one thing that a table says against the ledger.
type RowFault struct {
	Table string `json:"table"`
	ID    string `json:"id"`
	Text  string `json:"text"`
	Entry int64  `json:"entry,omitempty"` // the ledger entry that proves it; 0: there is none
}

// RowReport is what comparing all rows with the ledger found.
type RowReport struct {
	Head    Head
	Checked map[string]int64 // rows that were compared, by table
	// NotCovered counts what no entry can prove, by what it is.
	NotCovered map[string]int64
	// NotCompared counts the rows that the check leaves out, whole or in some columns, by what
	// they are and why.
	NotCompared map[string]int64
	Faults      []RowFault // the first MaxRowFaults
	Found       int64      // all
}

// MaxRowFaults is how many faults of a check are named.
const MaxRowFaults = 1000

// Rows is how many rows were compared.
func (r *RowReport) Rows() int64 { return total(r.Checked) }

// Uncovered is how many rows no entry can prove, at least in part.
func (r *RowReport) Uncovered() int64 { return total(r.NotCovered) }

func total(counts map[string]int64) int64 {
	var n int64
	for _, c := range counts {
		n += c
	}
	return n
}

// Add notes a fault.
func (r *RowReport) Add(f RowFault) {
	if r.Found++; len(r.Faults) < MaxRowFaults {
		r.Faults = append(r.Faults, f)
	}
}

// RowCheck is how the last comparison in the background went.
type RowCheck struct {
	EndedAt    *time.Time // nil: there was none yet
	Rows       int64
	Found      int64
	NotCovered int64
	Problem    string // why it could not be made, or the first fault
}

// Failed reports whether something was found, or nothing can be said.
func (c RowCheck) Failed() bool { return c.Found > 0 || c.Problem != "" }

// String names the row, its fault, and the entry that proves it.
func (f RowFault) String() string {
	by := "no ledger entry"
	if f.Entry > 0 {
		by = "ledger entry " + strconv.FormatInt(f.Entry, 10)
	}
	return strings.TrimSpace(f.Table+" "+f.ID) + ": " + f.Text + " (" + by + ")"
}
