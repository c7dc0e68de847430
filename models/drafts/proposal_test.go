package drafts_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/storetest"
)

const reason = "Nobody else answers, and the payments run wild."

// board is an installation whose policy two admins change.
type board struct {
	*storetest.Bench

	room           *drafts.Drafts
	ann, bo, other models.Actor // admins
	editor         models.Actor
}

func newBoard(t *testing.T, document string) *board {
	t.Helper()
	b := storetest.NewBench(t)
	b.UsePolicy(t, document)
	out := &board{Bench: b, room: drafts.New(b.Store), ann: b.Admin}
	out.bo, out.other = storetest.User(t, b.Store, "bo@example.com", models.RoleAdmin), storetest.User(t, b.Store, "other@example.com", models.RoleAdmin)
	out.editor = storetest.User(t, b.Store, "editor@example.com", models.RolePolicyEditor)
	return out
}

// drafts keeps a document as somebody's draft, and gives its revision.
func (b *board) drafts(t *testing.T, who models.Actor, document string) int64 {
	t.Helper()
	standing, err := b.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	before, err := b.room.Draft(t.Context(), who)
	storetest.Must(t, err)
	d, err := b.room.Keep(t.Context(), who, standing.Version, before.Revision, document)
	storetest.Must(t, err)
	return d.Revision
}

// proposes has somebody propose a document, and gives its digest.
func (b *board) proposes(t *testing.T, who models.Actor, document string) string {
	t.Helper()
	storetest.Must(t, b.room.Propose(t.Context(), who, b.drafts(t, who, document), "why"))
	p, err := b.room.Proposal(t.Context(), b.ann)
	storetest.Must(t, err)
	return p.Digest
}

func (b *board) version(t *testing.T) int64 {
	t.Helper()
	v, err := b.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	return v.Version
}

const (
	byTwo   = `{"policy_approvals":2,"policy_alone_minutes":30}`
	changed = `{"policy_approvals":2,"default_timeout_minutes":9}`
)

// TestTwoAdminsChangeThePolicy: what one proposes the other saves, on the digest that they saw; also that one is enough.
func TestTwoAdminsChangeThePolicy(t *testing.T) {
	t.Parallel()
	b := newBoard(t, byTwo)
	revision, before := b.drafts(t, b.ann, changed), b.version(t)
	for name, err := range map[string]error{
		"apply a draft": storetest.Err(b.room.Apply(t.Context(), b.ann, revision, "alone")),
		"apply":         storetest.Err(b.ApplyPolicy(t.Context(), b.ann, []byte(`{}`), "", 0)),
		"the operator":  storetest.Err(b.ApplyPolicy(t.Context(), storetest.Operator(), []byte(`{"policy_approvals":1}`), "", 0)),
		"change":        storetest.Err(b.ChangePolicy(t.Context(), b.ann, "", func(d *policy.Document) { d.ApprovalEnabled = false })),
	} {
		if models.ErrorCode(err) != models.CodeForbidden || !strings.Contains(err.Error(), "2 admins") {
			t.Errorf("%s: %v", name, err)
		}
	}
	digest := b.proposes(t, b.ann, changed)
	storetest.Refused(t, b.room.Propose(t.Context(), b.bo, b.drafts(t, b.bo, `{}`), "another"), models.CodeConflict)
	storetest.Refused(t, storetest.Err(b.room.Confirm(t.Context(), b.editor, digest)), models.CodeForbidden)
	storetest.Refused(t, storetest.Err(b.room.Confirm(t.Context(), b.bo, "another digest")), models.CodeConflict)
	if version, err := b.room.Confirm(t.Context(), b.ann, digest); err != nil || version != 0 || b.version(t) != before {
		t.Fatalf("who proposed it agrees twice: %d, %v", version, err)
	}
	version, err := b.room.Confirm(t.Context(), b.bo, digest)
	storetest.Must(t, err)
	if version != before+1 || b.version(t) != version {
		t.Fatalf("version %d, then %d", before, version)
	}
	saved, err := b.PolicyAt(t.Context(), b.ann, version)
	storetest.Must(t, err)
	if signed := saved.Signed(); models.Digest([]byte(saved.Document)) != digest || saved.AuthorName != b.ann.Name || len(signed.Admins) != 2 || signed.Alone != "" {
		t.Errorf("%+v", saved.Policy)
	}
	storetest.Refused(t, storetest.Err(b.room.Confirm(t.Context(), b.other, digest)), models.CodeConflict)
	if d, err := b.room.Draft(t.Context(), b.ann); err != nil || d.Revision != 0 {
		t.Errorf("the draft that was saved: %+v, %v", d, err)
	}

	lower := b.proposes(t, b.bo, `{"policy_approvals":1}`)
	if b.version(t) != version {
		t.Error("one admin lowered the number alone")
	}
	storetest.Must(t, storetest.Err(b.room.Confirm(t.Context(), b.other, lower)))
	storetest.Must(t, storetest.Err(b.ApplyPolicy(t.Context(), b.ann, []byte(`{"policy_approvals":1,"default_timeout_minutes":7}`), "", 0)))
	storetest.CheckRows(t, b.Store)
}

// Who agreed counts as they are at the end: one who was disabled, or is no admin any more, does not.
func TestAdminsCountWhenItIsSaved(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(b *board) error{
		"disabled": func(b *board) error { return storetest.Err(b.People.DisableUser(t.Context(), b.ann, b.other.UserID())) },
		"an auditor": func(b *board) error {
			return b.People.SetRole(t.Context(), b.ann, b.other.UserID(), models.RoleAuditor)
		},
	} {
		b := newBoard(t, byTwo)
		digest, before := b.proposes(t, b.other, changed), b.version(t)
		storetest.Must(t, goes(b))
		if version, err := b.room.Confirm(t.Context(), b.bo, digest); err != nil || version != 0 || b.version(t) != before {
			t.Errorf("%s: it was saved as %d, %v", name, version, err)
		}
		if version, err := b.room.Confirm(t.Context(), b.ann, digest); err != nil || version != before+1 {
			t.Errorf("%s: two admins agree, and it is %d, %v", name, version, err)
		}
		storetest.CheckRows(t, b.Store)
	}
}

// A policy editor's proposal takes as many admins as the policy says, and at least one.
func TestAPolicyEditorProposes(t *testing.T) {
	t.Parallel()
	for document, need := range map[string]int{`{}`: 1, byTwo: 2, `{"policy_approvals":3}`: 3} {
		b := newBoard(t, document)
		before := b.version(t)
		storetest.Refused(t, storetest.Err(b.room.Apply(t.Context(), b.editor, b.drafts(t, b.editor, changed), "alone")), models.CodeForbidden)
		digest := b.proposes(t, b.editor, changed)
		for i, admin := range []models.Actor{b.ann, b.bo, b.other}[:need] {
			if b.version(t) != before {
				t.Errorf("%s: saved by %d", document, i)
			}
			storetest.Must(t, storetest.Err(b.room.Confirm(t.Context(), admin, digest)))
		}
		if b.version(t) != before+1 {
			t.Errorf("%s: version %d, then %d", document, before, b.version(t))
		}
	}
	b := newBoard(t, byTwo)
	digest := b.proposes(t, b.editor, changed)
	storetest.Must(t, b.room.Reject(t.Context(), b.editor, digest, ""))
	if p, err := b.room.Proposal(t.Context(), b.ann); err != nil || p.Outcome != models.ProposalTakenBack {
		t.Errorf("%+v, %v", p, err)
	}
	again := b.proposes(t, b.editor, changed)
	storetest.Refused(t, b.room.Reject(t.Context(), b.bo, again, ""), models.CodeInvalid)
	storetest.Must(t, b.room.Reject(t.Context(), b.bo, again, "too late in the day"))
	storetest.Refused(t, storetest.Err(b.room.Confirm(t.Context(), b.ann, again)), models.CodeConflict)
}

// TestOneAdminSavesAloneInTheEnd: after all were told and the time is over, with a reason; a rejection ends it.
func TestOneAdminSavesAloneInTheEnd(t *testing.T) {
	t.Parallel()
	b := newBoard(t, byTwo)
	before, digest := b.version(t), b.proposes(t, b.ann, changed)
	storetest.Refused(t, storetest.Err(b.room.SaveAlone(t.Context(), b.ann, digest)), models.CodeConflict)
	storetest.Refused(t, b.room.BeginAlone(t.Context(), b.ann, digest, "......................"), models.CodeInvalid)
	storetest.Refused(t, b.room.BeginAlone(t.Context(), b.editor, digest, reason), models.CodeForbidden)
	storetest.Must(t, b.room.BeginAlone(t.Context(), b.ann, digest, reason))
	storetest.Refused(t, b.room.BeginAlone(t.Context(), b.bo, digest, reason), models.CodeConflict)
	b.Clock.Step(30*time.Minute - time.Second)
	storetest.Refused(t, storetest.Err(b.room.SaveAlone(t.Context(), b.ann, digest)), models.CodeConflict)
	b.Clock.Step(time.Second)
	storetest.Refused(t, storetest.Err(b.room.SaveAlone(t.Context(), b.bo, digest)), models.CodeConflict)
	version, err := b.room.SaveAlone(t.Context(), b.ann, digest)
	storetest.Must(t, err)
	saved, err := b.PolicyAt(t.Context(), b.bo, version)
	storetest.Must(t, err)
	if signed := saved.Signed(); version != before+1 || signed.Alone != reason || len(signed.Admins) != 1 {
		t.Errorf("version %d, %+v", version, signed)
	}

	digest = b.proposes(t, b.ann, `{"policy_approvals":1}`)
	storetest.Must(t, b.room.BeginAlone(t.Context(), b.ann, digest, reason))
	storetest.Must(t, b.room.Reject(t.Context(), b.bo, digest, "not without me"))
	b.Clock.Step(24 * time.Hour)
	storetest.Refused(t, storetest.Err(b.room.SaveAlone(t.Context(), b.ann, digest)), models.CodeConflict)
	if b.version(t) != version {
		t.Error("a proposal that was rejected was saved")
	}
	storetest.CheckRows(t, b.Store)
}

// TestAProposalEndsOnce, whoever confirms, rejects and withdraws it at once.
func TestAProposalEndsOnce(t *testing.T) {
	t.Parallel()
	b := newBoard(t, byTwo)
	for range 8 {
		before, digest := b.version(t), b.proposes(t, b.ann, `{"policy_approvals":2,"default_timeout_minutes":`+map[bool]string{true: "11", false: "12"}[b.version(t)%2 == 0]+`}`)
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				var err error
				switch i % 4 {
				case 0:
					_, err = b.room.Confirm(t.Context(), b.bo, digest)
				case 1:
					_, err = b.room.Confirm(t.Context(), b.other, digest)
				case 2:
					err = b.room.Reject(t.Context(), b.bo, digest, "no")
				default:
					err = b.room.Reject(t.Context(), b.ann, digest, "")
				}
				if code := models.ErrorCode(err); err != nil && code != models.CodeConflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p, err := b.room.Proposal(t.Context(), b.ann)
		storetest.Must(t, err)
		if saved := b.version(t) == before+1; p.Waits() || saved != (p.Outcome == models.ProposalSaved) {
			t.Errorf("%s, and version %d after %d", p.Outcome, b.version(t), before)
		}
		storetest.Must(t, b.room.Drop(t.Context(), b.ann))
	}
	storetest.CheckRows(t, b.Store)
}
