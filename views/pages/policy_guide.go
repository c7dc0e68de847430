package pages

import (
	"strings"

	"countersign/models/policy"
)

// guideParts are the sections of the policy's guide, each with its heading: all together
// are more than is laid out at once.
func guideParts() []string {
	parts := strings.Split(policy.Guide, "\n# ")
	for i := 1; i < len(parts); i++ {
		parts[i] = "# " + parts[i]
	}
	return parts
}
