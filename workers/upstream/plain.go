package upstream

var plain = dialect{
	calls:          "/function_calls?status=pending",
	contacts:       "/human_contacts?status=pending",
	respondCall:    func(id string) string { return "/function_calls/" + id + "/respond" },
	respondContact: func(id string) string { return "/human_contacts/" + id + "/respond" },
	verdict: func(approved bool, reason string) any {
		said := "deny"
		if approved {
			said = "approve"
		}
		return struct {
			Decision string `json:"decision"`
			Reason   string `json:"reason"`
		}{said, reason}
	},
	answer: func(response, _ string) any {
		return struct {
			Response string `json:"response"`
		}{response}
	},
}
