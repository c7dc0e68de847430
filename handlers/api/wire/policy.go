package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// PolicyVersion is one version of the whole policy.
type PolicyVersion struct {
	Version  int64          `json:"version"`
	Document jsontext.Value `json:"document" doc:"As the guide of the policy describes it"`
	Author   string         `json:"author" doc:"Who saved it"`
	Note     string         `json:"note" doc:"Why"`
	SavedAt  time.Time      `json:"savedAt"`
}

// PolicyChange is a document that is to become the next version. What it leaves out has
// its initial value.
type PolicyChange struct {
	Document jsontext.Value `json:"document"`
	Note     string         `json:"note" doc:"Why, for those who read the versions; at most 4000 bytes"`
}
