package audit

import (
	"cmp"

	"countersign/models"
	"countersign/views/pages/words"
)

// sentence is what the entries of an action say.
type sentence struct {
	by     string // after the name of who acted
	agent  string // after an agent's instead, which never decides (I4); empty: by
	system string // where the system acted; empty: by, and that it was automatic
}

// after is what follows a name of a kind.
func (s sentence) after(kind models.ActorKind) string {
	switch {
	case kind == models.ActorAgent && s.agent != "":
		return s.agent
	case kind != models.ActorSystem:
		return s.by
	case s.system != "":
		return s.system
	}
	return words.Capitalize(s.by) + " automatically"
}

// act is what an entry says after the name of who acted, or in whole where the system did. An action without a sentence
// is shown as it is stored.
func act(e *models.Entry, data map[string]string) string {
	s, known := sentences[e.Action]
	if !known {
		stored := models.RevealString(actionWords(e.Action), false)
		return sentence{by: "did: " + stored, system: stored}.after(e.ActorKind)
	}
	switch {
	case e.Action == "approval.approved" && data["verdict"] == string(models.VerdictAnswer):
		s.by = "answered"
	case e.Action == "approval.voted" && data["broke_glass"] != "":
		s.by = "broke glass, and " + verdicts[models.Verdict(data["verdict"])]
	case e.Action == "approval.voted" && data["need"] != "" && data["verdict"] == string(models.VerdictApprove):
		s.by = "signed (" + cmp.Or(data["have"], "0") + " of " + data["need"] + ")"
	case e.Action == "approval.voted":
		s.by = verdicts[models.Verdict(data["verdict"])]
	case (e.Action == "agents.stopped" || e.Action == "agents.resumed") && data["agent"] == "":
		s.by = everyone[e.Action]
	}
	return s.after(e.ActorKind)
}

// verdicts are decisions that are not the outcome yet.
var verdicts = map[models.Verdict]string{
	"":                    "decided",
	models.VerdictApprove: "decided to approve",
	models.VerdictReject:  "decided to reject",
	models.VerdictAnswer:  "gave an answer",
}

// everyone are acts on all agents.
var everyone = map[string]string{"agents.stopped": "stopped all agents", "agents.resumed": "resumed all agents"}

// sentences are those of all actions that the ledger's writers append.
var sentences = map[string]sentence{
	"absence.begun":                 {by: "went away", system: "An absence began"},
	"absence.ended":                 {by: "came back", system: "An absence ended"},
	"absence.planned":               {by: "planned an absence"},
	"agent.allowance":               {by: "changed the daily energy of an agent"},
	"agent.registered":              {by: "added an agent"},
	"agents.resumed":                {by: "resumed an agent"},
	"agents.stopped":                {by: "stopped an agent"},
	"approval.acknowledged":         {by: "acknowledged a decision that broke glass"},
	"approval.approved":             {by: "approved"},
	"approval.asked_back":           {by: "asked a question"},
	"approval.cancelled":            {by: "cancelled"},
	"approval.escalated":            {by: "asked for attention"},
	"approval.escalated_by_rule":    {by: "asked further people", system: "Further people were asked"},
	"approval.expired":              {by: "found it expired", system: "Expired automatically"},
	"approval.extended":             {by: "moved the deadline"},
	"approval.hand_over_taken_back": {by: "took a hand-over back"},
	"approval.handed_over":          {by: "handed it over"},
	"approval.let_through":          {by: "allowed it", agent: "asked and was allowed", system: "Allowed by the policy"},
	"approval.linked":               {by: "linked it to a reported call"},
	"approval.note_added":           {by: "added a note"},
	"approval.ran":                  {by: "reported that it ran without an answer"},
	"approval.refused":              {by: "refused the decision", system: "The other system refused the decision"},
	"approval.rejected":             {by: "rejected", agent: "asked and was rejected"},
	"approval.requested":            {by: "asked", system: "Another system asked"},
	"approval.resolved":             {by: "settled it elsewhere", system: "Settled elsewhere"},
	"approval.routed":               {by: "sent it to other people"},
	"approval.signable":             {by: "can be signed again", system: "Enough people can sign it again"},
	"approval.stranded":             {by: "can't be signed", system: "Not enough people can sign it any more"},
	"approval.taken_back":           {by: "undid a decision"},
	"approval.voted":                {by: "decided"},
	"approval.withdrawn":            {by: "undid a decision before it was sent"},
	"call.closed":                   {by: "ended a call"},
	"channel.added":                 {by: "added a notification channel"},
	"channel.disabled":              {by: "disabled a notification channel"},
	"channel.removed":               {by: "removed a notification channel"},
	"channel.verified":              {by: "verified a notification channel"},
	"contents.removed":              {by: "removed contents"},
	"conversation.archived":         {by: "archived a conversation"},
	"conversation.budget":           {by: "changed the budget of a conversation"},
	"conversation.described":        {by: "changed what follows a rejection"},
	"conversation.opened":           {by: "opened a conversation"},
	"conversation.paused":           {by: "paused a conversation"},
	"conversation.renamed":          {by: "renamed a conversation"},
	"conversation.resumed":          {by: "resumed a conversation"},
	"conversation.status":           {by: "changed the status of a conversation"},
	"conversation.unarchived":       {by: "took a conversation out of the archive"},
	"grant.made":                    {by: "made a pre-approval"},
	"grant.revoked":                 {by: "revoked a pre-approval"},
	"group.added":                   {by: "added a group"},
	"group.described":               {by: "described a group"},
	"group.joined":                  {by: "put a person into a group"},
	"group.left":                    {by: "took a person out of a group"},
	"group.removed":                 {by: "removed a group"},
	"invite.made":                   {by: "made an invitation"},
	"invite.used":                   {by: "joined by an invitation"},
	"invite.withdrawn":              {by: "cancelled an invitation"},
	"ledger.head":                   {by: "recorded the newest entry"},
	"ledger.loss_accepted":          {by: "accepted that entries are missing"},
	"ledger.move_undone":            {by: "undid a move to another database"},
	"ledger.moved":                  {by: "moved the installation to another database"},
	"ledger.rows_sealed":            {by: "listed rows of an older version"},
	"message.added":                 {by: "wrote a message"},
	"notification_host.allowed":     {by: "allowed a host"},
	"notification_host.removed":     {by: "removed an allowed host"},
	"notifications.changed":         {by: "changed their notifications"},
	"policy.alone_begun":            {by: "waits to change the policy alone"},
	"policy.changed":                {by: "changed the policy"},
	"policy.confirmed":              {by: "agreed to a proposed policy"},
	"policy.proposal_ended":         {by: "ended a proposal for the policy"},
	"policy.proposed":               {by: "proposed a change of the policy"},
	"response.added":                {by: "replied"},
	"response.adopted":              {by: "moved a reported call"},
	"run.reported":                  {by: "reported a run"},
	"session.closed":                {by: "ended a session"},
	"session.opened":                {by: "signed in"},
	"setup_link.made":               {by: "made the link for the first admin"},
	"setup_link.used":               {by: "became the first admin"},
	"substitute.accepted":           {by: "accepted a substitute"},
	"substitute.asked":              {by: "named a substitute"},
	"substitute.removed":            {by: "removed a substitute"},
	"token.added":                   {by: "made a token"},
	"token.revoked":                 {by: "revoked a token"},
	"upstream.added":                {by: "connected another system"},
	"upstream.disabled":             {by: "disabled another system"},
	"upstream.enabled":              {by: "enabled another system"},
	"upstream.key_changed":          {by: "changed the key for another system"},
	"upstream.paused":               {by: "paused another system"},
	"upstream.resumed":              {by: "resumed another system"},
	"user.added":                    {by: "added a person"},
	"user.disabled":                 {by: "disabled a person"},
	"user.enabled":                  {by: "enabled a person"},
	"user.password_changed":         {by: "changed a password"},
	"user.role_changed":             {by: "changed a role"},
	"user.unlocked":                 {by: "let a person sign in again"},
	"webhook.added":                 {by: "added a webhook"},
	"webhook.changed":               {by: "changed a webhook"},
	"webhook.key_retired":           {by: "retired an old key of a webhook"},
	"webhook.key_rotated":           {by: "gave a webhook a new key"},
	"webhook.paused":                {by: "paused a webhook"},
	"webhook.removed":               {by: "removed a webhook"},
	"webhook.replayed":              {by: "sent a webhook earlier events again"},
	"webhook.resumed":               {by: "resumed a webhook"},
	"webhook.skipped":               {by: "gave up an event of a webhook"},
}
