package store_test

import (
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
)

func TestAQuestionWithAnotherTextIsAnotherRequestI9(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*models.AskInput)
		code   models.Code // empty: the same row
	}{
		{"the same", func(*models.AskInput) {}, ""},
		{"another text", func(in *models.AskInput) { in.Description = "Keep the backups?" }, models.CodeKeyConflict},
		{"another title on a button", func(in *models.AskInput) {
			in.Options = []models.Option{{Name: "yes", Title: "Not now"}, {Name: "no"}}
		}, models.CodeKeyConflict},
		{"fewer options", func(in *models.AskInput) { in.Options = in.Options[:1] }, models.CodeKeyConflict},
	}
	first := models.AskInput{
		ApprovalID: string(models.NewID[models.ResponseID]()), Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Delete the backups?"},
		Options: []models.Option{{Name: "yes"}, {Name: "no"}}, Explicit: true,
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			stands := b.AskFor(t, first)
			if stands.DigestVersion != models.DigestVersion {
				t.Errorf("digest version = %d, want %d", stands.DigestVersion, models.DigestVersion)
			}
			in := first
			tt.change(&in)
			got, err := b.Ask(t.Context(), b.Agent, in)
			if tt.code != "" {
				wantCode(t, err, tt.code)
			} else if err != nil || got.ID != stands.ID {
				t.Fatalf("repeat gave %v, %v; want the row %s", got, err, stands.ID)
			}
		})
	}
}

// A row of a database from before keeps the digest it has, and a repeat of it by
// its key is compared as it was made.
func TestARepeatIsComparedUnderTheVersionOfItsRowI9(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := models.AskInput{ToolUseID: "t1", Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Which region?"}, Explicit: true}
	stands := b.AskFor(t, in)
	old, err := stands.DigestUnder(1)
	if err != nil {
		t.Fatal(err)
	}
	before(t, b, stands.ID, old)

	in.Description = "Which region first?"
	if got, err := b.Ask(t.Context(), b.Agent, in); err != nil || got.ID != stands.ID || got.Digest != old || got.DigestVersion != 1 {
		t.Fatalf("repeat gave %+v, %v; want the row %s with its digest %s", got, err, stands.ID, old)
	}
	in.Input = []byte(`{"other":true}`)
	in.ApprovalID = string(stands.ID)
	_, err = b.Ask(t.Context(), b.Agent, in)
	wantCode(t, err, models.CodeKeyConflict)
}

func TestAProposalWithAnotherWishIsAnotherRequestI9(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := models.ResponseInput{
		ConversationID: models.NewID[models.ConversationID](), ResponseID: string(models.NewID[models.ResponseID]()), Kind: models.KindProposal,
		Content: "Delete the old logs.", EnergyBudget: new(int64(50)),
	}
	stands, err := b.Respond(t.Context(), b.Agent, in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Respond(t.Context(), b.Agent, in); err != nil || again.ID != stands.ID {
		t.Fatalf("repeat gave %v, %v", again, err)
	}
	more := in
	more.EnergyBudget = new(int64(5000))
	_, err = b.Respond(t.Context(), b.Agent, more)
	wantCode(t, err, models.CodeKeyConflict)

	old, err := stands.DigestUnder(1)
	if err != nil {
		t.Fatal(err)
	}
	before(t, b, stands.ID, old)
	if got, err := b.Respond(t.Context(), b.Agent, more); err != nil || got.ID != stands.ID {
		t.Fatalf("repeat of a row of version 1 gave %v, %v", got, err)
	}
}

// before makes a row one that was stored before digests had versions.
func before(t *testing.T, b *bench, id models.ResponseID, digest string) {
	t.Helper()
	dbtest.Forge(t, storetest.Tamper(t, b.Store), `UPDATE responses SET digest = ?, digest_version = 1 WHERE id = ?`, digest, id)
}

func TestTheTextOfAQuestionNeverChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Delete the backups?"}})
	db := storetest.Tamper(t, b.Store)
	for _, set := range []string{`description = 'Keep the backups?'`, `digest_version = 1`, `options = '[]'`} {
		if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+set+` WHERE id = ?`, question.ID); err == nil {
			t.Errorf("%s: changed", set)
		}
	}
}
