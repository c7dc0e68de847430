package upstream

var cloud = dialect{
	calls:          "/agent/function_calls/pending",
	contacts:       "/agent/human_contacts/pending",
	respondCall:    func(id string) string { return "/agent/function_calls/" + id + "/respond" },
	respondContact: func(id string) string { return "/agent/human_contacts/" + id + "/respond" },
	call:           func(id string) string { return "/function_calls/" + id },
	contact:        func(id string) string { return "/contact_requests/" + id },
	verdict: func(approved bool, reason string) any {
		// One of its clients fails on a denial without a comment.
		if !approved && reason == "" {
			reason = "Rejected by the reviewer"
		}
		return struct {
			Approved bool   `json:"approved"`
			Comment  string `json:"comment,omitempty"`
		}{approved, reason}
	},
	answer: func(response, option string) any {
		return struct {
			Response string `json:"response"`
			Option   string `json:"response_option_name,omitempty"`
		}{response, option}
	},
	pages: true,
}
