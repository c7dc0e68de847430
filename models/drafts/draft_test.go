package drafts_test

import (
	"testing"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/storetest"
)

func TestADraftIsKeptForEachAdmin(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := drafts.New(s)
	ann, bo := storetest.Admin(t, s), storetest.User(t, s, "bo@example.com", models.RoleAdmin)
	ctx := t.Context()
	none, err := d.Draft(ctx, ann)
	storetest.Must(t, err)
	if none != (models.PolicyDraft{}) {
		t.Errorf("nobody wrote %+v", none)
	}
	kept, err := d.Keep(ctx, ann, 1, 0, `{"default_timeout_minutes": "soon"`)
	storetest.Must(t, err)
	if kept.Revision != 1 || kept.Base != 1 || kept.Previous != "" {
		t.Errorf("%+v", kept)
	}
	wantCode(t, storetest.Err(d.Keep(ctx, ann, 1, 0, `{}`)), models.CodeConflict)
	wantCode(t, storetest.Err(d.Keep(ctx, bo, 1, 1, `{}`)), models.CodeConflict)
	wantCode(t, storetest.Err(d.Keep(ctx, ann, 1, 1, string(make([]byte, policy.MaxDocument+1)))), models.CodeInvalid)
	kept, err = d.Keep(ctx, ann, 1, 1, `{"default_timeout_minutes": 6}`)
	storetest.Must(t, err)
	for i, want := range []string{`{"default_timeout_minutes": "soon"`, `{"default_timeout_minutes": 6}`} {
		kept, err = d.Undo(ctx, ann, kept.Revision)
		storetest.Must(t, err)
		if read, err := d.Draft(ctx, ann); err != nil || kept.Document != want || read.Document != want || read.Revision != int64(3+i) {
			t.Errorf("undone %d times it is %+v (%v)", i+1, read, err)
		}
	}
	wantCode(t, storetest.Err(d.Undo(ctx, ann, 1)), models.CodeConflict)
	if other, err := d.Draft(ctx, bo); err != nil || other.Revision != 0 {
		t.Errorf("Bo has Ann's draft: %+v (%v)", other, err)
	}

	_, err = d.Keep(ctx, bo, 1, 0, `{"default_timeout_minutes": 7}`)
	storetest.Must(t, err)
	storetest.Must(t, d.Drop(ctx, bo))
	if other, err := d.Draft(ctx, bo); err != nil || other.Revision != 0 {
		t.Errorf("what was dropped is there: %+v (%v)", other, err)
	}
	for name, who := range storetest.WhoMayNot(t, s) {
		wantCode(t, storetest.Err(d.Draft(ctx, who)), models.CodeForbidden)
		wantCode(t, storetest.Err(d.Keep(ctx, who, 1, 0, `{}`)), models.CodeForbidden)
		wantCode(t, d.Drop(ctx, who), models.CodeForbidden)
		if t.Failed() {
			t.Fatalf("as %s", name)
		}
	}
	storetest.CheckRows(t, s)
}

// A draft has no effect before it is saved, and is gone with that; what another saved
// meanwhile is not overwritten.
func TestADraftBecomesAVersion(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := drafts.New(s)
	ann, bo := storetest.Admin(t, s), storetest.User(t, s, "bo@example.com", models.RoleAdmin)
	ctx := t.Context()
	for _, who := range []models.Actor{ann, bo} {
		_, err := d.Keep(ctx, who, 1, 0, `{"unmatched": "require"}`)
		storetest.Must(t, err)
	}
	if v, err := s.CurrentPolicy(ctx); err != nil || v.Version != 1 || v.Program.Document().Unmatched != policy.EffectAllow {
		t.Errorf("a draft holds: %+v (%v)", v.Policy, err)
	}
	wantCode(t, storetest.Err(d.Apply(ctx, ann, 2, "")), models.CodeConflict)
	v, err := d.Apply(ctx, ann, 1, "hold what is new")
	storetest.Must(t, err)
	if v.Version != 2 || v.AuthorID != ann.ID || v.Note != "hold what is new" || v.Program.Document().Unmatched != policy.EffectRequire {
		t.Errorf("%+v", v.Policy)
	}
	if draft, err := d.Draft(ctx, ann); err != nil || draft.Revision != 0 {
		t.Errorf("the draft is still there: %+v (%v)", draft, err)
	}
	wantCode(t, storetest.Err(d.Apply(ctx, ann, 0, "")), models.CodeInvalid)
	wantCode(t, storetest.Err(d.Apply(ctx, bo, 1, "")), models.CodeConflict)
	if draft, err := d.Draft(ctx, bo); err != nil || draft.Revision != 1 {
		t.Errorf("a draft that was not saved is gone: %+v (%v)", draft, err)
	}
	_, err = d.Keep(ctx, bo, 2, 1, `{"unmatched": "sometimes"}`)
	storetest.Must(t, err)
	wantCode(t, storetest.Err(d.Apply(ctx, bo, 2, "")), models.CodeInvalid)
	storetest.CheckRows(t, s)
}

func wantCode(t *testing.T, err error, code models.Code) {
	t.Helper()
	if models.ErrorCode(err) != code {
		t.Fatalf("error = %v (code %q), want code %q", err, models.ErrorCode(err), code)
	}
}
