package people_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/store"
	"countersign/models/storetest"
)

func mailTo(address string) models.ChannelInput {
	return models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: address}}
}

// codeOf is the code that is on its way to a channel, as who sends it reads it.
func codeOf(t *testing.T, s *store.Store, id models.ChannelID) string {
	t.Helper()
	var secret models.ChannelSecret
	row := storetest.Beside(t, s).QueryRowContext(t.Context(), `SELECT id, code_sealed, code_expires FROM channels WHERE id = ?`, id)
	storetest.Must(t, row.Scan(&secret.ID, &secret.CodeSealed, &secret.CodeExpires))
	code, err := s.People.OpenCode(&secret, s.Now())
	storetest.Must(t, err)
	return code
}

func TestAChannelIsUsedOnceItsCodeIsEntered(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ann, bo := storetest.Reviewer(t, s, "ann@example.com"), storetest.Reviewer(t, s, "bo@example.com")
	since := storetest.LedgerAt(t, s)
	c, err := s.People.AddChannel(t.Context(), ann, mailTo(" Ann@Example.com "))
	storetest.Must(t, err)
	if c.Label != "ann@example.com" || c.VerifiedAt != nil || c.UserID != ann.UserID() {
		t.Errorf("%+v", c)
	}
	code := codeOf(t, s, c.ID)
	if len(code) != 6 {
		t.Fatalf("the code is %q", code)
	}
	wrong := "000000"
	if code == wrong {
		wrong = "000001"
	}
	if e := storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, wrong), models.CodeInvalid); e.Fields["code"] == "" {
		t.Errorf("%+v", e)
	}
	storetest.Refused(t, s.People.VerifyChannel(t.Context(), bo, c.ID, code), models.CodeNotFound)
	storetest.Refused(t, s.People.RemoveChannel(t.Context(), bo, c.ID), models.CodeNotFound)
	storetest.Must(t, s.People.VerifyChannel(t.Context(), ann, c.ID, code+"\n"))
	mine, err := s.People.Channels(t.Context(), ann)
	storetest.Must(t, err)
	if len(mine) != 1 || !mine[0].Usable() {
		t.Errorf("%+v", mine)
	}
	storetest.Must(t, s.People.RemoveChannel(t.Context(), ann, c.ID))
	storetest.Refused(t, s.People.RemoveChannel(t.Context(), ann, c.ID), models.CodeNotFound)
	owner := string(ann.UserID())
	storetest.SameStrings(t, "entries", storetest.ActionsSince(t, s, since), []string{"channel.added " + owner, "channel.verified " + owner, "channel.removed " + owner})
	storetest.CheckRows(t, s)
}

// Guessing ends after a few tries, and a code after its time.
func TestACodeCantBeGuessed(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ann := storetest.Reviewer(t, s, "ann@example.com")
	c, err := s.People.AddChannel(t.Context(), ann, mailTo("a@example.com"))
	storetest.Must(t, err)
	code := codeOf(t, s, c.ID)
	for range models.CodeTries {
		storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, "x"), models.CodeInvalid)
	}
	if e := storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, code), models.CodeInvalid); !strings.Contains(e.Fields["code"], "expired") {
		t.Errorf("%+v", e)
	}
	storetest.Must(t, s.People.ResendCode(t.Context(), ann, c.ID))
	second := codeOf(t, s, c.ID)
	clock.Step(models.CodeLife)
	storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, second), models.CodeInvalid)
	storetest.Must(t, s.People.ResendCode(t.Context(), ann, c.ID))
	storetest.Must(t, s.People.VerifyChannel(t.Context(), ann, c.ID, codeOf(t, s, c.ID)))
	storetest.Refused(t, s.People.ResendCode(t.Context(), ann, c.ID), models.CodeConflict)
}

// Five codes an hour for a person, three for an address, whoever asks for them: nobody's box
// is filled by us.
func TestCodesAreLimited(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ann, bo := storetest.Reviewer(t, s, "ann@example.com"), storetest.Reviewer(t, s, "bo@example.com")
	c, err := s.People.AddChannel(t.Context(), ann, mailTo("victim@example.com"))
	storetest.Must(t, err)
	clock.Step(time.Minute)
	storetest.Must(t, s.People.ResendCode(t.Context(), ann, c.ID))
	storetest.Must(t, s.People.ResendCode(t.Context(), ann, c.ID))
	if e := storetest.Refused(t, s.People.ResendCode(t.Context(), ann, c.ID), models.CodeTooManyRequests); e.RetryAfterSeconds != 59*60+1 {
		t.Errorf("%+v", e)
	}
	// Neither by another person, nor by removing the channel and adding it again.
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), bo, mailTo("victim@example.com"))), models.CodeTooManyRequests)
	storetest.Must(t, s.People.RemoveChannel(t.Context(), ann, c.ID))
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), ann, mailTo("VICTIM@example.com"))), models.CodeTooManyRequests)
	for _, other := range []string{"one@example.com", "two@example.com"} {
		storetest.Must(t, storetest.Err(s.People.AddChannel(t.Context(), ann, mailTo(other))))
	}
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), ann, mailTo("three@example.com"))), models.CodeTooManyRequests)
	clock.Step(models.CodesWindow)
	storetest.Must(t, storetest.Err(s.People.AddChannel(t.Context(), ann, mailTo("victim@example.com"))))
}

// One address in several spellings is one: it gets no more codes, and no second channel.
func TestAnAddressHasOneSpelling(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	for i, spellings := range [][]string{
		{"https://ntfy.example/topic", "https://NTFY.example:443/topic/", " https://ntfy.example./topic", "HTTPS://ntfy.example/t%6Fpic"},
		{"http://[::1]:8080/topic", "http://[::1]:8080/topic//"},
	} {
		var first models.Actor
		for j, spelling := range spellings {
			who := storetest.Reviewer(t, s, fmt.Sprintf("r%d-%d@example.com", i, j))
			in := models.ChannelInput{Kind: models.ChannelNtfy, Target: models.ChannelTarget{URL: spelling}}
			if j == 0 {
				first = who
			} else {
				storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), first, in)), models.CodeConflict)
			}
			_, err := s.People.AddChannel(t.Context(), who, in)
			if j < models.CodesPerAddress {
				storetest.Must(t, err)
			} else {
				storetest.Refused(t, err, models.CodeTooManyRequests)
			}
		}
	}
}

// Wrong codes are counted across channels that are removed and added again: nobody guesses
// more than the codes of an hour allow.
func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ann := storetest.Reviewer(t, s, "ann@example.com")
	guesses := 0
	for range 10 {
		c, err := s.People.AddChannel(t.Context(), ann, mailTo("victim@example.com"))
		if err != nil {
			storetest.Refused(t, err, models.CodeTooManyRequests)
			break
		}
		wrong := "000000"
		if codeOf(t, s, c.ID) == wrong {
			wrong = "000001"
		}
		for range 20 {
			if e := storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, wrong), models.CodeInvalid); strings.Contains(e.Fields["code"], "not the one") {
				guesses++
			}
		}
		storetest.Refused(t, s.People.VerifyChannel(t.Context(), ann, c.ID, codeOf(t, s, c.ID)), models.CodeInvalid) // too late
		storetest.Must(t, s.People.RemoveChannel(t.Context(), ann, c.ID))
	}
	if want := models.CodesPerAddress * models.CodeTries; guesses != want {
		t.Errorf("%d guesses, want %d", guesses, want)
	}
}

const (
	goodKey  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	goodAuth = "BTBZMqHH6r4Tts7J_aSIgg"
)

func TestAChannelThatIsWrongNamesItsField(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ann := storetest.Reviewer(t, s, "ann@example.com")
	for _, test := range []struct {
		kind  models.ChannelKind
		label string
		to    models.ChannelTarget
		field string
	}{
		{"pigeon", "", models.ChannelTarget{}, "kind"},
		{models.ChannelEmail, "", models.ChannelTarget{}, "address"},
		{models.ChannelEmail, "", models.ChannelTarget{Address: "a@example.com\r\nBcc: b@example.com"}, "address"},
		{models.ChannelEmail, "", models.ChannelTarget{Address: "a@example.com\u202e"}, "address"},
		{models.ChannelNtfy, "", models.ChannelTarget{URL: "https://ntfy.example"}, "url"},
		{models.ChannelNtfy, "", models.ChannelTarget{URL: "https://ntfy.example/a/b"}, "url"},
		{models.ChannelNtfy, "", models.ChannelTarget{URL: "https://ntfy.example/a?auth=b"}, "url"},
		{models.ChannelNtfy, "", models.ChannelTarget{URL: "https://ntfy.example/a b"}, "url"},
		{models.ChannelNtfy, "", models.ChannelTarget{URL: "https://ntfy.example/a", Token: "a\nb"}, "token"},
		{models.ChannelSlack, "", models.ChannelTarget{URL: "http://hooks.slack.com/services/x"}, "url"},
		{models.ChannelWebhook, "", models.ChannelTarget{URL: "file:///etc/passwd"}, "url"},
		{models.ChannelWebhook, "", models.ChannelTarget{URL: "https://user:password@hook.example/"}, "url"},
		{models.ChannelWebhook, "", models.ChannelTarget{URL: "https:///path"}, "url"},
		{models.ChannelWebhook, "a\u200bb", models.ChannelTarget{URL: "https://hook.example/"}, "label"},
		{models.ChannelWebPush, "", models.ChannelTarget{URL: "https://push.example/x", P256dh: "AAAA", Auth: goodAuth}, "p256dh"},
		{models.ChannelWebPush, "", models.ChannelTarget{URL: "https://push.example/x", P256dh: goodKey, Auth: "AAAA"}, "auth"},
	} {
		_, err := s.People.AddChannel(t.Context(), ann, models.ChannelInput{Kind: test.kind, Label: test.label, Target: test.to})
		if e := storetest.Refused(t, err, models.CodeInvalid); e.Fields[test.field] == "" {
			t.Errorf("%s %+v: %v", test.kind, test.to, e.Fields)
		}
	}
}

// No secret of a channel is in the database, in a label or in the ledger.
func TestSecretsOfChannelsAreSealed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ann := storetest.Reviewer(t, s, "ann@example.com")
	c, err := s.People.AddChannel(t.Context(), ann, models.ChannelInput{Kind: models.ChannelNtfy, Label: "phone", Target: models.ChannelTarget{URL: "https://ntfy.example/topic-9f2c", Token: "tk_5ecret"}})
	storetest.Must(t, err)
	if c.Label != "phone (ntfy.example)" {
		t.Errorf("the label is %q", c.Label)
	}
	code := codeOf(t, s, c.ID)
	hook, err := s.People.AddChannel(t.Context(), ann, models.ChannelInput{Kind: models.ChannelWebhook, Target: models.ChannelTarget{URL: "https://hook.example/path-7a1b"}})
	storetest.Must(t, err)
	secret, err := s.People.WebhookSecret(t.Context(), ann, hook.ID)
	if err != nil || !strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("%q, %v", secret, err)
	}
	stranger := storetest.Reviewer(t, s, "bo@example.com")
	storetest.Refused(t, storetest.Err(s.People.WebhookSecret(t.Context(), stranger, hook.ID)), models.CodeNotFound)
	sealed := storetest.Scalar[[]byte](t, s, `SELECT code_sealed FROM channels WHERE id = ?`, c.ID)
	if len(sealed) == 0 || bytes.Contains(sealed, []byte(code)) {
		t.Error("a code is readable in the database")
	}
	dbtest.OnlySQLite(t, "its file is read")
	var stored []byte
	for _, file := range []string{s.Path(), s.Path() + "-wal"} {
		part, err := os.ReadFile(file)
		storetest.Must(t, err)
		stored = append(stored, part...)
	}
	if !bytes.Contains(stored, []byte("phone (ntfy.example)")) {
		t.Fatal("the label is not found either")
	}
	for _, hidden := range []string{"topic-9f2c", "tk_5ecret", "path-7a1b", secret} {
		if bytes.Contains(stored, []byte(hidden)) {
			t.Errorf("%s is readable in the database", hidden)
		}
	}
}

// A group's channels are its admins' to change, and what somebody adds is theirs, whoever
// they say they are.
func TestOnlyAdminsChangeChannelsOfGroups(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin, ann := storetest.Admin(t, s), storetest.Reviewer(t, s, "ann@example.com")
	storetest.Must(t, s.People.AddGroup(t.Context(), admin, "finance", ""))
	storetest.Must(t, s.People.JoinGroup(t.Context(), admin, "finance", ann.Name))
	g, _, err := s.People.Group(t.Context(), admin, "finance")
	storetest.Must(t, err)
	in := models.ChannelInput{Group: g.ID, Kind: models.ChannelSlack, Target: models.ChannelTarget{URL: "https://hooks.slack.com/services/x"}}
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), ann, in)), models.CodeForbidden)
	c, err := s.People.AddChannel(t.Context(), admin, in)
	storetest.Must(t, err)
	storetest.Refused(t, s.People.RemoveChannel(t.Context(), ann, c.ID), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(s.People.GroupChannels(t.Context(), ann, g.ID)), models.CodeForbidden)
	in.Group = "01890a5d-ac96-774b-bcce-b302099a8057"
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), admin, in)), models.CodeNotFound)
	storetest.Must(t, s.People.RemoveGroup(t.Context(), admin, "finance"))
	if left := storetest.Scalar[int](t, s, `SELECT count(*) FROM channels WHERE removed_at IS NULL OR target_sealed IS NOT NULL`); left != 0 {
		t.Error("a channel outlives its group")
	}
	agent, _ := storetest.AgentToken(t, s, ann, "bot")
	storetest.Refused(t, storetest.Err(s.People.AddChannel(t.Context(), agent, mailTo("a@example.com"))), models.CodeForbidden)
	storetest.CheckRows(t, s)
}

func TestHostsAreAllowedByAdmins(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin, ann := storetest.Admin(t, s), storetest.Reviewer(t, s, "ann@example.com")
	storetest.Refused(t, s.People.AllowHost(t.Context(), ann, "ntfy.example"), models.CodeForbidden)
	for in, want := range map[string]string{
		" NTFY.example ": "ntfy.example", "10.0.0.5:8080": "10.0.0.5:8080", "::1": "::1", "[::1]": "::1", "[::1]:99": "[::1]:99", "::ffff:10.0.0.7": "10.0.0.7", "localhost": "localhost",
	} {
		since := storetest.LedgerAt(t, s)
		storetest.Must(t, s.People.AllowHost(t.Context(), admin, in))
		hosts, err := s.People.AllowedHosts(t.Context(), ann)
		storetest.Must(t, err)
		if !slices.ContainsFunc(hosts, func(h models.NotificationHost) bool { return h.Host == want && h.ByName == admin.Name }) {
			t.Errorf("%q: %+v, want %s", in, hosts, want)
		}
		if got := storetest.ActionsSince(t, s, since); in != "[::1]" && in != "::1" && len(got) != 1 {
			t.Errorf("%q: %v", in, got)
		}
	}
	for _, bad := range []string{"", "https://ntfy.example", "ntfy.example/path", "a@b", "*.example", "ntfy.example:", "ntfy.example:0", "ntfy.example:99999", "nt fy", "ntfy.example#", "nтfy.example", ".", "a?b"} {
		if e := storetest.Refused(t, s.People.AllowHost(t.Context(), admin, bad), models.CodeInvalid); e.Fields["host"] == "" {
			t.Errorf("%q: %v", bad, e)
		}
	}
	storetest.Must(t, s.People.RemoveHost(t.Context(), admin, "ntfy.example"))
	storetest.Refused(t, s.People.RemoveHost(t.Context(), admin, "ntfy.example"), models.CodeNotFound)
}

func TestNotificationSettingsAreOnesOwn(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ann, bo := storetest.Reviewer(t, s, "ann@example.com"), storetest.Reviewer(t, s, "bo@example.com")
	in := models.DefaultNotificationSettings()
	in.UserID, in.QuietFrom, in.QuietTo, in.Zone, in.DigestAt = bo.UserID(), "22:00", "07:00", "Europe/Vienna", "08:00"
	in.Moments[models.RiskLow] = models.Moments{UnseenMinutes: 30}
	since := storetest.LedgerAt(t, s)
	storetest.Must(t, s.People.SetNotificationSettings(t.Context(), ann, in))
	storetest.Must(t, s.People.SetNotificationSettings(t.Context(), ann, in)) // the same again
	if got := storetest.ActionsSince(t, s, since); len(got) != 1 || got[0] != "notifications.changed "+string(ann.UserID()) {
		t.Errorf("%v", got)
	}
	got, err := s.People.NotificationSettings(t.Context(), ann)
	if err != nil || got.QuietFrom != "22:00" || got.Zone != "Europe/Vienna" || got.Moments[models.RiskLow] != in.Moments[models.RiskLow] || got.UserID != ann.UserID() {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = s.People.NotificationSettings(t.Context(), bo); err != nil || got.QuietFrom != "" {
		t.Errorf("somebody else's settings changed: %+v, %v", got, err)
	}
	in.Zone = "Mars/Olympus"
	if e := storetest.Refused(t, s.People.SetNotificationSettings(t.Context(), ann, in), models.CodeInvalid); e.Fields["zone"] == "" {
		t.Errorf("%v", e)
	}
}
