package store

import "countersign/models/upkeep"

// TextColumns and RemovedAs are what a purge does with each column, for the tests.
func TextColumns() map[string]map[string]string { return upkeep.TextColumns }

// ContentColumns are the columns whose text is removed, by table.
func ContentColumns() map[string][]string {
	out := map[string][]string{}
	for table, columns := range upkeep.ContentColumns {
		for _, c := range columns {
			out[table] = append(out[table], c.Name)
		}
	}
	return out
}
