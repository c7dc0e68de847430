package store

import "countersign/models/upkeep"

// RowColumns is how each column is proven, for the test that finds those which
// are not listed.
func RowColumns() map[string]map[string]string { return upkeep.RowColumns }
