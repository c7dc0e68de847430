package requests

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Input is what the page of one request is made of.
type Input struct {
	Approval models.Approval
	// IDs precedes the id of every element, where several requests are on one page.
	IDs string
	// Turns are the last of its conversation, oldest first; this one may be among
	// them.
	Turns []models.Brief
	// Substitution is what the reader may do, and who acts for others. The zero value: they may see
	// and not decide.
	Substitution models.ActingPage
	// HandOverTo are those to whom the reader may hand it over.
	HandOverTo []models.PersonRef
	// Unanswered says of a request that expired who was told; nil: not wanted.
	Unanswered *models.Unanswered
	// Sees says that the reader may look at all of its conversation.
	Sees bool
	// Watches says that they change nothing.
	Watches bool
	// Opened are the folded parts that the reader has opened, see Folds.
	Opened []string
	// Reader is who looks, and Admin whether as an admin.
	Reader models.Voter
	Admin  bool
	// Around has the facts around the request; nil where it is among others: then nothing but a verdict is offered.
	Around *models.Around
	// Calls are those of its batch, and it itself; none where the reader does not see
	// them.
	Calls map[models.ResponseID]models.CallDetail
	// Result is what came of the call; nil: not wanted.
	Result *models.CallResult
	// Next is a request that waits, for who has nothing more to do with this one.
	Next *models.Brief
	// Pane says that the request is beside the inbox's list, and Desk where there: the query of the address.
	Pane bool
	Desk string
	// OwnPage says that it is a page of its own all the same: what it says without
	// script when its form came from there.
	OwnPage bool
	// Late is the verdict that the reader just sent and that came too late or met another; empty otherwise. The page
	// then shows the current state.
	Late models.Verdict
	// LateAct is the same of any other act.
	LateAct LateAct
	Form    DecideForm
	// Confirm asks to confirm an approval; nil: the request itself is shown.
	Confirm *ConfirmInput
	// Origin says where the request comes from.
	Origin models.Origin

	// Presence says whether the agent waits for the outcome.
	Presence models.Presence
	// Budget is what the conversation may spend and has spent, for its owner and
	// admins, who may change it; nil for others. Points and Shares say how it was
	// spent, and are wanted for budget requests only.
	Budget *models.Budget
	// AgentBudget is that of the agent in all its conversations, with a request for
	// more, for its owner and admins.
	AgentBudget *models.AgentBudget
	Points      []models.EnergyPoint
	Shares      []models.EnergyShare
}

// MayDecide is false for who may see but not decide.
func (in Input) MayDecide() bool { return in.Substitution.MayDecide() }

// DecideForm keeps a sent form, with its errors by field: reason, answer, option, input, digest, sum, new_budget, ask,
// note, minutes, those of to, handover_note, FieldName, or "" for all.
type DecideForm struct {
	Sent               bool // the fields of the decision are as sent, not as they begin
	Reason, Answer     string
	Option             string         // that goes with the reason or answer
	Preset             string         // of the reasons offered
	Checked            []int          // items of the checklist that are ticked, by their numbers
	Glass              bool           // it decides alone
	Proposals          string         // whose proposed edit Checked is about, by its vote; empty: the request
	Further            *string        // what becomes of that edit, as JSON
	Input              *string        // the whole input as JSON; nil: not edited
	Fields             map[int]string // the text typed for the input's members, by their place
	Sum                string         // of a budget request
	SetBudget          bool           // with a proposal: NewBudget is meant
	NewBudget          string
	Ask, Note, Minutes string // of the forms beside the verdict

	HandOverTo, HandOverNote string // of the form that hands it over
	Withdraw                 string // of the form that takes a decision back
	Errors                   map[string]string
}

// typed is what somebody wrote in words.
func (f DecideForm) typed() string {
	return cmp.Or(f.Reason, f.Answer, f.Ask, f.Note, f.HandOverNote, f.Withdraw)
}

// Approval is the view model of one request.
type Approval struct {
	ID        models.ResponseID
	Removed   string // says that the contents were removed; empty: they are kept
	IDs       string // before the id of every element, where several requests are on one page
	URL       string
	DecideURL string

	Checklist    Checklist
	Template     string // that the agent named
	TemplateText string

	Topic   string
	Follows models.ConversationID // whose budget is shown too; empty: none's
	State   string                // changes when a reader must look again
	Kept    bool                  // holds a sent decision and its result: not to be refetched away
	Title   string                // its headline, shorter
	Uses    string                // the tool of a call; empty: it is none

	Tool            string
	Kind            string
	Question        bool
	Agent, Owner    string
	Conversation    string
	ConversationURL string
	Sequence        string
	Named           []NamedFact // what its sender calls things, in the order of the page
	Details         []NamedFact // ids and the like, to be copied

	Risk      ui.Word
	Asked     views.Moment
	Claimed   views.Moment // when the agent, or the other system, says that it asked, where that is another time
	ClaimedBy string       // who says so
	Presence  outcomes.Presence
	Left      views.Moment

	models.Explanation

	Warnings   []inputs.Warning
	Blocks     []ui.Block
	Whole, Raw ui.Code
	DrawnWhole bool // the blocks draw every member whole: the source is below them, in their frame
	SourceOpen bool // there, it is open at first
	Digest     string

	Why           string // what Rule and PolicyReason say: why it was asked about, allowed or rejected
	Rule          string
	BuiltIn       string // says what Rule means where it is none of the policy's own rules
	RuleURL       string // makes a rule from it; admins only
	PolicyVersion int64
	PolicyReason  string
	Busy          string // what happened to it because everybody was busy, while it waits

	Options       []outcomes.Choice
	RejectOptions []outcomes.Choice // buttons of the agent's own that reject
	Sent          ui.Code           // the data that the agent's client sent beside the request
	Turns         []Turn
	Content       string       // of a proposal or reply
	Ask           *BudgetAsk   // of a budget request
	Offer         *BudgetOffer // what a verdict may do to the budget besides

	Pending   bool
	MayDecide bool
	Held      string // set while another verdict is on its way
	HeldHelp  string // what can be done about that
	Withdraw  *WithdrawForm
	Withdrawn []WithdrawnNote

	MustApprove  string // who must approve, where the rule limits that
	NoApprove    string // why the reader may not; empty: they may
	Proposals    []ProposedEdit
	Signatures   *Signatures // of a request that several people sign; nil: one decides it
	Signed       []SignedBy  // who signed a settled request; none: one person decided
	Glass        *Glass      // lets the reader decide alone; nil: they may not
	Broken       *Broken     // of a decision that broke glass
	Substitution Acting

	EditJSON   string
	FixedInput bool         // the asker takes no edit: it is suggested with a rejection
	Edits      []EditChange // what the form changes in the input
	Form       DecideForm
	Headline   string // the request in one line, a claim
	Quote      string // the same where a sentence quotes it: of a question, the question alone
	Arms       bool   // approving is confirmed
	Ends       string // names the ends that must be seen before; empty: none must
	Confirm    *Confirm
	Notice     string
	Unsent     string // what its reader wrote and was too late to send
	Outcome    *outcomes.Outcome

	Origin  inputs.Origin
	Notes   []inputs.Note
	Linked  *inputs.Linked
	Outside bool   // another system asks, and hears the verdict
	Hears   string // that system's name, for a sentence
	// OutsideID is what that system calls the request, and OutsideCall its call.
	OutsideID, OutsideCall string

	Other  ui.Code // the input that it asks with, where that is another one
	Beside ui.Code // what it sends beside the input
	Closed string  // why it can only be rejected; empty: it can be approved

	Card
	folds inputs.Folding
}

// Turn is one step of the conversation around a request.
type Turn struct {
	Sequence string
	At       views.Moment
	Kind     string
	Tool     string
	Text     string
	Word     ui.Word
	URL      string
	Current  bool
}

// New makes the page of one request as of now: a request whose time is
// up is shown as expired, whether or not that has been written down (I3).
func New(in Input, now time.Time) Approval {
	a := in.Approval
	r := a.At(now)
	asked := words.AskedAt(r)
	folds := inputs.Folding{}
	if r.Status() == models.StatusPending && (in.MayDecide() || in.Substitution.BreaksGlass) && r.Risk.NeedsDigest() {
		folds = inputs.Folding{URL: in.place(views.OpenURL(r.ID)), Opened: in.Opened}
	}
	input := inputs.New(r, folds)
	v := Approval{
		ID: r.ID, IDs: in.IDs, URL: views.ApprovalURL(r.ID), DecideURL: views.DecideURL(r.ID),
		Topic: views.ApprovalTopic(r.ID),
		Tool:  r.ToolName, Kind: r.Kind.Word(), Question: r.Kind == models.KindQuestion,
		Agent: a.AgentName, Owner: a.OwnerName,
		Conversation: words.ConversationLabel(&a), ConversationURL: views.InboxPageURL(r.ConversationID, ""),
		Sequence: strconv.FormatInt(r.Sequence, 10), Named: namedFacts(&a),
		Asked:       views.Ago(asked, now),
		Explanation: r.AgentExplanation(),
		Blocks:      input.Blocks, Whole: input.Whole, Raw: input.Raw, Digest: r.Digest,
		Why: whyLabel(r), Rule: r.PolicyRule, BuiltIn: builtInWords(r.PolicyRule), PolicyVersion: r.PolicyVersion,
		PolicyReason: r.PolicyReason,
		Template:     r.Template, TemplateText: r.TemplateText,
		Options: outcomes.Choices(r), RejectOptions: outcomes.RejectChoices(r), FixedInput: !r.TakesEdits(),
		Turns:   turns(in.Turns, r.ID, now),
		Pending: r.Status() == models.StatusPending, MayDecide: in.MayDecide(),
		EditJSON: input.Edit, Form: in.Form, folds: folds,
	}
	if v.Pending {
		v.Busy = r.BusyText()
	}
	if in.Admin && r.ToolName != "" {
		v.RuleURL = views.NewPolicyRuleURL(r.ID)
	}
	if in.Sees {
		v.ConversationURL = views.ConversationURL(r.ConversationID)
	}
	v.Sent = sentBeside(&a)
	v.Presence = outcomes.NewPresence(&a, in.Presence, now)
	if at := r.ClaimedTime(); at != nil {
		v.Claimed, v.ClaimedBy = views.Exact(*at), cmp.Or(in.Origin.UpstreamName, "the agent")
	}
	v.title(r)
	if r.Risk != models.RiskMedium && (r.Kind == models.KindToolCall || r.Risk.NeedsDigest() && !v.Question) {
		v.Risk = ui.RiskWord(r.Risk)
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		v.Content = r.Content
	}
	v.outside(in)
	v.Ask, v.Form = newBudgetAsk(in, now), fillBudget(v.Form, r)
	if in.Budget != nil {
		v.Follows = r.ConversationID
	}
	v.Warnings = inputs.Warnings(&a, in.Origin.Beside, input)
	v.drawSource(r, input)
	v.Details = detailFacts(v, r)
	if v.Pending {
		v.Offer = newBudgetOffer(in)
		v.Left = views.Remaining(r.ApprovalTimeoutAt, asked, now)
		v.Held = heldText(&a, in.Origin)
		v.Signatures = newSignatures(&v, in, now)
		v.approvers(in)
	} else {
		v.Outcome = outcomes.New(&a, r, now)
		if from := in.Origin.CascadedFrom; from != "" {
			v.Outcome.FromURL = views.ApprovalURL(from)
		}
		for i := range a.Signatures {
			v.Signed = append(v.Signed, signedBy(&a.Signatures[i], false, now))
		}
	}
	v.Broken = newBroken(a.Vote, in, now)
	v.Substitution = newActing(&v, in, now)
	v.checklists(r, in.Form)
	v.Withdrawn = withdrawnNotes(in.Origin, v.Pending && v.Held == "", now)
	v.withdraw(in)
	v.card(in, now)
	v.Arms = v.decides() && v.NoApprove == "" && r.Risk.NeedsDigest()
	v.markEnds(r)
	v.Edits = editChanges(v, r)
	v.confirm(in, r)
	v.Kept = in.Confirm != nil || len(v.Edits) > 0 || in.Late != "" || in.LateAct != "" || len(in.Form.Errors) > 0
	v.State = v.state(r)
	v.Notice, v.Removed = lateText(in, v), inputs.RemovedText(r.Removed)
	if v.Notice != "" && (!v.Pending || !v.decides()) {
		v.Unsent = in.Form.typed()
	}
	return v
}

// title puts the headline above the page, and the tool below it.
func (v *Approval) title(r *models.Response) {
	h := headline.Shown(r)
	v.Title, v.Headline, v.Quote = h.Short(words.TitleLength), h.Text(), h.Quoted()
	if r.Kind == models.KindToolCall {
		v.Uses = r.ToolName
	}
}

// sentBeside is the data that the agent's client sent beside the request, as JSON.
func sentBeside(a *models.Approval) ui.Code {
	data, err := a.ClientData()
	data.RejectOptions = nil // they are buttons
	if err != nil || a.ClientDataJSON == "" {
		return ui.Code{}
	}
	text, err := data.Stored()
	if err != nil || text == "" {
		return ui.Code{}
	}
	return ui.Code{Label: "Also sent by the agent's client", Text: inputs.IndentJSON(text)}
}

// NamedFact is something that is shown as its sender wrote it, with a word for what it is
// and what its element is called.
type NamedFact struct{ ID, Label, Text string }

// namedFacts are those of a request that has them.
func namedFacts(a *models.Approval) []NamedFact {
	all := []NamedFact{
		{"run", "Run", words.Deref(a.AskedRun())},
		{"call", "Call", words.Deref(a.ToolUseID)},
	}
	return slices.DeleteFunc(all, func(f NamedFact) bool { return f.Text == "" })
}

func turns(rows []models.Brief, current models.ResponseID, now time.Time) []Turn {
	out := make([]Turn, 0, len(rows))
	for i := range rows {
		r := rows[i].At(now)
		t := Turn{
			Sequence: strconv.FormatInt(r.Sequence, 10), At: views.Ago(r.CreatedAt, now), Kind: r.Kind.Word(),
			Tool: r.ToolName, Text: words.Summary(r), URL: views.ApprovalURL(r.ID), Current: r.ID == current,
		}
		if r.Status() != models.StatusNone || r.Cause != models.CauseNone {
			t.Word = ui.StatusWord(r.Status(), r.Cause)
		}
		if r.Kind != models.KindToolCall {
			t.Tool = ""
		}
		out = append(out, t)
	}
	return out
}
