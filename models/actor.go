package models

// ActorKind says what sort of party acts.
type ActorKind string

// The kinds of actor.
const (
	ActorUser     ActorKind = "user"     // a person, by session or by reviewer or admin token
	ActorAgent    ActorKind = "agent"    // a program, by agent token
	ActorSystem   ActorKind = "system"   // policy, expirer, poller
	ActorOperator ActorKind = "operator" // the command line; the OS user's name
)

// Actor is who acts: a parameter of every write. It is made from a session, a
// token or the command line and never from a body or a header (I5). The zero
// Actor may do nothing.
type Actor struct {
	Kind ActorKind
	ID   string // the user's or agent's id; empty for system and operator
	Name string // the registered name

	// OwnerID is the user behind the actor: the user itself, or an agent's owner.
	OwnerID UserID
	// OwnerName is the name of an agent's owner, if that person may sign in.
	OwnerName string
	// Admin is true for a session or an admin token of a person who is an admin
	// now. A reviewer token of an admin leaves it false.
	Admin bool
	// Auditor is true for a person who is an auditor now, by any credential: they see what admins see and change
	// nothing but their own account.
	Auditor bool
	// PolicyEditor is true for a person who is one now: they draft the policy, and do not save it.
	PolicyEditor bool
	// Groups are the names of those that the person is in now.
	Groups []string

	// TokenID or SessionID names the credential, so that open waits can end when
	// it is revoked. Both are empty for system and operator.
	TokenID   TokenID
	SessionID SessionID
}

// IsPerson reports whether the actor may decide anything at all (I4).
func (a Actor) IsPerson() bool { return a.Kind == ActorUser && a.ID != "" }

// IsAgent reports whether the actor is an agent.
func (a Actor) IsAgent() bool { return a.Kind == ActorAgent && a.ID != "" }

// UserID is the acting person, or empty.
func (a Actor) UserID() UserID {
	if a.Kind == ActorUser {
		return UserID(a.ID)
	}
	return ""
}

// Voter is the acting person as a rule's demands see them; the zero Voter for others.
func (a Actor) Voter() Voter { return Voter{ID: a.UserID(), Groups: a.Groups} }

// AgentID is the acting agent, or empty.
func (a Actor) AgentID() AgentID {
	if a.Kind == ActorAgent {
		return AgentID(a.ID)
	}
	return ""
}

// NeedAdmin is CodeForbidden for an actor that may not administer.
func (a Actor) NeedAdmin() error {
	if !a.MayAdminister() {
		return AdminsOnly()
	}
	return nil
}

// AdminsOnly is the refusal of what only an admin may do.
func AdminsOnly() *Error { return Errorf(CodeForbidden, "Only an admin may do this.") }

// MayAdminister reports whether the actor may change what all share: the
// policy, users, other people's tokens. The operator holds the data folder.
func (a Actor) MayAdminister() bool {
	return a.Kind == ActorOperator || (a.IsPerson() && a.Admin)
}

// Oversees reports whether the actor sees what belongs to everybody: admins, auditors and the operator. It is no right
// to change anything.
func (a Actor) Oversees() bool { return a.MayAdminister() || a.IsPerson() && a.Auditor }

// NeedOversight is CodeForbidden for an actor that sees only their own.
func (a Actor) NeedOversight() error {
	if !a.Oversees() {
		return Errorf(CodeForbidden, "Only an admin or an auditor may see this.")
	}
	return nil
}

// NeedPolicy is CodeForbidden for an actor that does not see the whole policy: admins, auditors, policy editors and the
// operator do.
func (a Actor) NeedPolicy() error {
	if !a.Oversees() && !a.MayDraft() {
		return Errorf(CodeForbidden, "Only an admin, an auditor or a policy editor may see this.")
	}
	return nil
}

// MayDraft reports whether the actor may draft the policy, try it and replay it: admins, policy editors and the operator.
func (a Actor) MayDraft() bool { return a.MayAdminister() || a.IsPerson() && a.PolicyEditor }

// NeedDrafting is CodeForbidden for an actor that may not.
func (a Actor) NeedDrafting() error {
	if !a.MayDraft() {
		return Errorf(CodeForbidden, "Only an admin or a policy editor may do this.")
	}
	return nil
}

// NeedToAct is CodeForbidden for an auditor, who changes nothing but their own account.
func (a Actor) NeedToAct() error {
	if a.Auditor {
		return Errorf(CodeForbidden, "An auditor sees everything and changes nothing.")
	}
	return nil
}

// Sees reports whether the actor may see a request, and whether it was routed to them
// tells routed: the agent that opened it, its owner, its reviewers, every admin, every
// auditor, the system and the operator. For people but auditors, who sees it may reject it too,
// and approve it where its rule does not say otherwise.
func (a Actor) Sees(r *Response, isReviewer bool) bool {
	switch a.Kind {
	case ActorAgent:
		return a.IsAgent() && r.AgentID == a.AgentID()
	case ActorUser:
		return a.IsPerson() && (a.Oversees() || r.OwnerID == a.UserID() || isReviewer)
	case ActorSystem, ActorOperator:
		return true
	}
	return false
}

// Operator is the actor of the command line, under the OS user's name.
func Operator(name string) Actor { return Actor{Kind: ActorOperator, Name: name} }

// System is the actor of what runs without a request.
func System(name string) Actor { return Actor{Kind: ActorSystem, Name: name} }
