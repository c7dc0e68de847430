package models

// RowFault is one thing that a table says against the ledger.
type RowFault struct {
	Table  string `json:"table"`
	ID     string `json:"id"`
	Column string `json:"column,omitempty"`
	Text   string `json:"text"`
	Entry  int64  `json:"entry,omitempty"` // the ledger entry that proves it; 0: there is none
}

// RowReport is what comparing all rows with the ledger found.
type RowReport struct {
	Head    Head
	Checked map[string]int64 // rows that were compared, by table
	// NotCovered counts what no entry can prove, by what it is.
	NotCovered map[string]int64
	Faults     []RowFault // the first MaxRowFaults
	Found      int64      // all
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
