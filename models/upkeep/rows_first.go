package upkeep

import (
	"cmp"
	"strconv"

	"countersign/models"
	"countersign/models/ledger"
)

// firstEntryCheck compares a response with its first entry: what it is, and the outcome
// of the policy that was frozen then (I12).
func firstEntryCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	r, id := with.response, string(e.ResponseID)
	if !r.found {
		c.fault("responses", id, "", e.Seq, "the row is missing")
		return nil
	}
	c.report.Checked["responses"]++
	c.mark(with.number)
	a := c.compare(e, "responses", id, r)
	at := fileTime(e.At)
	a.is("kind", d.Kind)
	a.is("tool_name", d.Tool)
	a.is("digest", d.Digest)
	a.is("risk", d.Risk)
	a.is("policy_version", strconv.FormatInt(d.Version, 10))
	a.is("policy_rule", d.Rule)
	a.is("owner_id", string(e.OwnerID))
	a.is("conversation_id", string(e.ConversationID))
	a.is("energy", strconv.FormatInt(d.Energy, 10))
	if d.Sequence != nil {
		a.is("sequence", strconv.FormatInt(*d.Sequence, 10))
	}
	if e.ActorKind == models.ActorAgent {
		a.is("agent_id", e.ActorID)
	}
	a.is("asked", boolText(d.Kind != string(models.KindReply)))
	a.is("reviewers_only", boolText(d.ReviewersOnly))
	a.is("self_approval", cmp.Or(d.SelfApproval, string(models.SelfAllowed)))
	a.text("approvers", d.Approvers)
	a.is("no_substitutes", boolText(d.NoSubstitutes))
	a.is("escalation", "0")
	a.is("template", d.Template)
	a.text("checklist", d.Checklist)
	a.text("template_text", d.TemplateText)
	a.began(d, at)
	if d.Row == "" {
		c.uncovered(oldAsk)
	} else {
		a.proves(askProven, d.Row, askProof(r))
		a.routedTo(d.Reviewers, with.routed)
	}
	return a.content()
}

// began compares the state that a response began in.
func (a *comparison) began(d *entryData, at string) {
	status := d.Status
	if status == "let_through" || status == string(models.StatusRan) {
		status = null
	}
	a.is("approval_status", orNull(status))
	a.is("grant_id", orNullOf(d.Grant))
	if d.Grant != nil {
		use := a.uses[*d.Grant]
		use.count, use.at = use.count+1, at
		a.uses[*d.Grant] = use
	}
	a.is("held_until", null)
	a.is("paused_left", null)
	a.is("open_note", null)
	a.is("requires_approval", boolText(status != null))
	a.is("approval_timeout_at", fileTime(orForEver(d.Deadline)))
	if status == null {
		a.is("approval_requested_at", null)
	} else {
		a.is("approval_requested_at", at)
	}
	now, ok := a.row.get("approval_status")
	if !ok {
		now = null
	}
	if now == status && (status == null || status == string(models.StatusPending)) {
		a.is("cause", d.Cause)
		a.is("approval_timestamp", null)
		a.is("approval_feedback", null)
		a.is("decided_by", null)
		a.is("vote_id", null)
		a.is("answer", "")
	}
	if status == string(models.StatusRejected) {
		a.is("cause", d.Cause)
		a.is("approval_timestamp", at)
		a.is("decided_by", null)
		a.is("vote_id", null)
		if d.Row != "" {
			a.text("approval_feedback", d.Reason)
		}
	}
}

// content recomputes the digest of what is decided.
func (a *comparison) content() error {
	row := a.row.digestedRow()
	if row.DigestCoversMore() {
		a.uncovered(cutInput)
		return nil
	}
	if !a.row.fitsDigest() {
		column := "tool_input_json"
		if row.Kind == models.KindReply || row.Kind == models.KindProposal {
			column = "content"
		}
		a.claim(column, claim{entry: a.entry, text: "the content does not give the digest of its row"})
	}
	return nil
}

// digestedRow is the part of a response that its digest covers.
func (r *rowValues) digestedRow() *models.Response {
	row := &models.Response{
		Kind: models.Kind(r.text("kind")), ToolName: r.text("tool_name"), ToolInputJSON: r.text("tool_input_json"), Description: r.text("description"),
		Options: r.text("options"), Content: r.text("content"), DigestVersion: int(r.number("digest_version")),
	}
	if _, cut := r.get("input_bytes"); cut {
		row.InputBytes = new(int64)
	}
	if upstream, ok := r.get("upstream_id"); ok {
		row.UpstreamID = &upstream
	}
	if _, ok := r.get("energy_budget"); ok {
		row.EnergyBudget = new(r.number("energy_budget"))
	}
	return row
}

// fitsDigest reports whether a response is what its digest says, as far as that can
// be told from what is kept.
func (r *rowValues) fitsDigest() bool {
	row := r.digestedRow()
	if row.DigestCoversMore() {
		return true
	}
	canonical, err := row.CanonicalForm()
	return err == nil && models.Digest(canonical) == r.text("digest")
}

// askProven is what askProof proves, in words.
const askProven = "description, context, preview, options, headline or ids of the call"

// askProof is askDigest of a stored row.
func askProof(r *rowValues) string {
	var cut *string
	if _, ok := r.get("input_bytes"); ok {
		cut = r.ptr("tool_input_json")
	}
	values := []*string{
		r.ptr("agent_id"), r.ptr("tool_use_id"), r.ptr("job_id"), r.ptr("upstream_id"), r.ptr("call_id"), r.ptr("policy_reason"), r.ptr("model_used"),
		r.ptr("energy_budget"), r.ptr("input_bytes"), r.ptr("description"), r.ptr("context"), r.ptr("options"), cut,
	}
	claimed, preview, protocol := r.ptr("claimed_at"), r.text("preview"), r.text("protocol")
	edits := r.number("accepts_edits") != 0
	says, outside := edits || r.text("headline") != "", r.ptr("outside_run")
	client := says || outside != nil || protocol != "" || r.text("client_data") != ""
	if claimed != nil || preview != "" || client {
		values = append(values, claimed)
	}
	if preview != "" || client {
		values = append(values, &preview)
	}
	if client {
		values = append(values, &protocol, r.ptr("client_data"))
	}
	if says || outside != nil {
		values = append(values, outside)
	}
	if says {
		values = append(values, r.ptr("headline"))
	}
	if edits {
		values = append(values, new("takes edits"))
	}
	return ledger.RowDigest(values...)
}

func (c *rowCheck) mark(number int64) {
	if n := number / 64; number > 0 && n < int64(len(c.begun)) {
		c.begun[n] |= 1 << (number % 64)
	}
}

func (c *rowCheck) marked(number int64) bool {
	n := number / 64
	return number > 0 && n < int64(len(c.begun)) && c.begun[n]&(1<<(number%64)) != 0
}

func rejectedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	if d.Kind != "" {
		return firstEntryCheck(c, e, d, with)
	}
	return outcomeCheck(c, e, d, with)
}
