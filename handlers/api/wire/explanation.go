package wire

// Explanation is what an agent sends about a request in its own words.
type Explanation struct {
	Description string `json:"description,omitempty"`
	Context     string `json:"context,omitempty"`
	Preview     string `json:"preview,omitempty" doc:"What the agent says that will happen, such as a diff or a plan: at most 16 KiB of text, shown to people as its claim. It is no part of the digest, and a repeat keeps the first one"`
}

// Explained is the same in an answer.
type Explained struct {
	Description string `json:"description"`
	Context     string `json:"context,omitempty" doc:"In the agent's words"`
	Preview     string `json:"preview,omitempty" doc:"What the agent says that will happen: its claim, and no part of what is decided"`
}
