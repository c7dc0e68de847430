package request

import (
	"net/url"
	"strconv"

	"countersign/views/pages/requests"
)

// readTicks are the ticked items of a checklist; it ignores text that is not a number.
func readTicks(values url.Values) []int {
	var out []int
	for _, text := range values[requests.CheckedField] {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	return out
}
