package upkeep

import (
	"fmt"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

// createdRow looks up the row of an entry that may have created it; nil if it is
// missing.
func (c *rowCheck) createdRow(e *models.Entry, table, id string, makes bool) (*comparison, error) {
	column := "id"
	if table == "policies" {
		column = "version"
	}
	row, err := c.lookUp(table, column+" = ?", id)
	if err != nil {
		return nil, err
	}
	if makes {
		c.name(table, id)
		c.report.Checked[table]++
	}
	if !row.found {
		if makes && table != "web_sessions" { // sessions are dropped when they end
			c.fault(table, id, "", e.Seq, "the row is missing")
		}
		return nil, nil //nolint:nilnil // there is nothing to compare
	}
	return c.compare(e, table, id, row), nil
}

func userAddedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "users", d.UserID, true)
	if a == nil || err != nil {
		return err
	}
	a.is("email", d.Email)
	a.is("name", d.Name)
	a.is("role", d.Role)
	a.is("created_at", fileTime(e.At))
	a.is("disabled_at", null)
	a.secret("password_hash", d.Password)
	return nil
}

// userCheck compares a person with an entry that changed one thing.
func userCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "users", d.UserID, false)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "user.password_changed":
		a.secret("password_hash", d.Password)
	case "user.role_changed":
		a.is("role", d.Role)
	case "user.disabled":
		a.is("disabled_at", fileTime(e.At))
	case "user.enabled":
		a.is("disabled_at", null)
	}
	return nil
}

// secret compares a stored hash with its digest. An entry of an older program has
// none: then nothing is known of the hash since.
func (a *comparison) secret(column, digest string) {
	if digest == "" {
		a.uncovered(oldSecret)
		a.settled(column)
		return
	}
	a.proves(column, digest, ledger.SecretDigest(a.key.id, a.row.text(column)))
}

func tokenCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "token.added"
	a, err := c.createdRow(e, "tokens", d.TokenID, makes)
	if a == nil || err != nil {
		return err
	}
	if !makes {
		a.is("revoked_at", fileTime(e.At))
		return nil
	}
	a.is("scope", d.Scope)
	a.is("name", d.Name)
	a.is("user_id", string(e.OwnerID))
	a.is("agent_id", orNullOf(d.AgentID))
	a.is("created_at", fileTime(e.At))
	a.is("revoked_at", null)
	if d.ExpiresAt == nil {
		a.is("expires_at", null)
	} else {
		a.is("expires_at", fileTime(d.ExpiresAt.UTC().Format(db.TimeFormat)))
	}
	a.secret("secret_hash", d.Secret)
	return nil
}

func agentCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	if d.AgentID == nil {
		return nil
	}
	a, err := c.createdRow(e, "agents", *d.AgentID, true)
	if a == nil || err != nil {
		return err
	}
	name, renamed := d.Name, "built-in of "+*d.AgentID
	if name == models.BuiltIn && a.row.text("name") == renamed {
		name = renamed // by migration 0005
	}
	a.is("name", name)
	a.is("owner_id", string(e.OwnerID))
	a.is("created_at", fileTime(e.At))
	a.is("system", boolText(name == models.BuiltIn))
	a.is("disabled_at", null) // nothing disables an agent
	return nil
}

func policyCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "policies", strconv.FormatInt(d.PolicyRow, 10), true)
	if a == nil || err != nil {
		return err
	}
	a.proves("document", d.Digest, models.Digest([]byte(a.row.text("document"))))
	a.is("author_id", e.ActorID)
	author := e.ActorName
	if e.ActorKind == models.ActorSystem {
		author = models.SystemAuthor
	}
	a.is("author_name", author)
	a.is("created_at", fileTime(e.At))
	if d.NoteText == nil {
		c.uncovered(oldPolicy)
		return nil
	}
	a.text("note", *d.NoteText)
	return nil
}

func inviteCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "invite.made"
	a, err := c.createdRow(e, "invites", d.InviteID, makes)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "invite.withdrawn":
		a.is("withdrawn_at", fileTime(e.At))
	case "invite.used":
		a.is("used_at", fileTime(e.At))
	default:
		by := null
		if e.ActorKind == models.ActorUser {
			by = e.ActorID
		}
		a.is("email", d.Email)
		a.is("role", d.Role)
		a.is("invited_by", by)
		a.is("inviter_name", e.ActorName)
		a.is("created_at", fileTime(e.At))
		a.is("expires_at", fileTime(ledger.TimeOf(*e).Add(people.InviteLength).Format(db.TimeFormat)))
		a.is("used_at", null)
		a.is("withdrawn_at", null)
		a.secret("secret_hash", d.Secret)
	}
	return nil
}

func sessionCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "session.opened"
	a, err := c.createdRow(e, "web_sessions", d.SessionID, makes)
	if a == nil || err != nil {
		return err
	}
	if !makes {
		a.is("revoked_at", fileTime(e.At))
		return nil
	}
	a.is("user_id", string(e.OwnerID))
	a.is("address", d.Address)
	a.is("created_at", fileTime(e.At))
	a.is("expires_at", fileTime(ledger.TimeOf(*e).Add(people.SessionLength).Format(db.TimeFormat)))
	a.is("revoked_at", null)
	a.secret("secret_hash", d.Secret)
	return nil
}

func upstreamCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "upstream.added"
	a, err := c.createdRow(e, "upstreams", d.Upstream, makes)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "upstream.key_changed":
		a.secret("key_sealed", d.Key)
	case "upstream.enabled":
		a.is("disabled_at", null)
	case "upstream.disabled":
		a.is("disabled_at", fileTime(e.At))
	default:
		a.is("name", d.Name)
		a.is("base_url", d.BaseURL)
		a.is("dialect", d.Dialect)
		a.is("owner_id", string(e.OwnerID))
		a.is("created_at", fileTime(e.At))
		a.is("disabled_at", null)
		a.is("checked_address", boolText(d.Checked))
		if d.Agent != "" {
			a.is("agent_id", d.Agent)
		}
		a.secret("key_sealed", d.Key)
	}
	return nil
}

func grantMadeCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	if d.Grant == nil {
		return nil
	}
	c.uses[*d.Grant] = grantUse{entry: e.Seq}
	a, err := c.createdRow(e, "grants", *d.Grant, true)
	if a == nil || err != nil {
		return err
	}
	a.is("owner_id", string(e.OwnerID))
	a.is("agent_id", d.Agent)
	a.is("tool_name", d.Tool)
	a.proves("fixed", d.Fixed, models.Digest([]byte(a.row.text("fixed"))))
	a.proves("free", d.Free, models.Digest([]byte(a.row.text("free"))))
	a.is("made_by", e.ActorID)
	a.is("maker_name", e.ActorName)
	a.is("made_from", string(e.ResponseID))
	a.is("created_at", fileTime(e.At))
	a.is("expires_at", fileTime(d.Expires))
	a.is("max_uses", strconv.FormatInt(d.MaxUses, 10))
	a.is("revoked_at", null)
	a.is("revoked_by", null)
	a.is("revoker_name", "")
	return nil
}

func grantRevokedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	if d.Grant == nil {
		return nil
	}
	a, err := c.createdRow(e, "grants", *d.Grant, false)
	if a == nil || err != nil {
		return err
	}
	a.is("revoked_at", fileTime(e.At))
	a.is("revoked_by", e.ActorID)
	a.is("revoker_name", e.ActorName)
	return nil
}

// grantUses compares the uses of grants with the calls that entries say they let
// through.
func (c *rowCheck) grantUses() error {
	for id, use := range c.uses {
		row, err := c.lookUp("grants", "id = ?", id)
		if err != nil {
			return err
		}
		if !row.found {
			continue // that is told already
		}
		if have := row.text("uses"); have != strconv.FormatInt(use.count, 10) {
			c.fault("grants", id, "uses", use.entry, "the row says %s, and the ledger names %d calls that it let through", have, use.count)
		}
		if have, at := row.text("used_at"), use.at; have != at {
			c.fault("grants", id, "used_at", use.entry, "the row says %s, and the ledger says %s", shown(have), shown(at))
		}
	}
	return nil
}

// shownID is the id of a row that has several columns for one.
func shownID(parts ...any) string { return strings.TrimSpace(fmt.Sprintln(parts...)) }
