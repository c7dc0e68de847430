package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/policy"
	"countersign/models/upkeep"
)

const fromBackup = "stop the server and run `countersign restore BACKUP --force`"

func (d *doctor) database(ctx context.Context) diagnosis {
	if d.openErr != nil {
		return fail("check --data; `countersign serve` makes a new database; for a damaged one: "+fromBackup, "%v", d.openErr)
	}
	if err := d.folder.Sound(ctx); err != nil {
		return fail("check the disk and whether the file is read-only; if it is damaged: "+fromBackup, "%v", err)
	}
	if d.folder.ReadOnly() {
		return warn("for a copy that is only looked at, nothing; a server needs a folder that it can write",
			"whole, and read-only: no server can run on it")
	}
	return passed("whole and writable")
}

func (d *doctor) permissions(context.Context) diagnosis {
	if err := upkeep.CheckFolder(d.cfg.Data); err != nil {
		return fail("make the folder and the database private to the server's user, as described", "%v", err)
	}
	return passed("private to its user")
}

func (d *doctor) migrations(ctx context.Context) diagnosis {
	switch have, want, err := d.folder.Schema(ctx); {
	case errors.Is(err, upkeep.ErrOlder):
		return fail("make a backup, and do that", "%v", err)
	case err != nil:
		return fail("check --data: this may be another program's file; else "+fromBackup, "%v", err)
	case have > want:
		if err := d.folder.Usable(ctx); err != nil {
			return fail("run that version", "%v", err)
		}
		return passed("schema %d, which this program may use: it knows %d", have, want)
	case have < want:
		return fail("make a backup and run `countersign migrate`", "the database has schema %d, and this program brings %d",
			have, want)
	default:
		if err := d.folder.Moved(ctx); err != nil {
			return fail("follow that; until then no server starts here", "%v", err)
		}
		return passed("schema %d, as this program brings", have)
	}
}

func (d *doctor) ledger(ctx context.Context) diagnosis {
	head, _, err := d.folder.Ledger(ctx)
	if broken, ok := errors.AsType[*models.ChainError](err); ok {
		return fail("keep this file as evidence, find out who could write it, and compare with a backup", "%v", broken)
	}
	if err != nil {
		return fail("see the database's check", "the ledger could not be checked: %v", err)
	}
	if err := d.folder.Lost(ctx); err != nil {
		return fail("put the log "+models.DatabaseFile+"-wal back if there is one, or "+fromBackup+"; to go on without what is missing, start the server with --accept-loss and the number that its error names", "%v", err)
	}
	return passed("%d entries, head %s", head.Seq, head)
}

func (d *doctor) clock(ctx context.Context) diagnosis {
	_, last, err := d.folder.Ledger(ctx)
	if err != nil {
		return diagnosis{Result: checkSkipped, Text: "needs the ledger"}
	}
	if lead := last.Sub(d.now); lead > data.ClockSlack {
		return fail("set the clock (timedatectl set-ntp true); deadlines depend on it",
			"the clock says %s, but the last ledger entry is from %s: the clock was set back", terminal.FormatTime(&d.now),
			terminal.FormatTime(&last))
	}
	return passed("%s, not behind the ledger", terminal.FormatTime(&d.now))
}

func (d *doctor) space(context.Context) diagnosis {
	var fs unix.Statfs_t
	if err := unix.Statfs(d.cfg.Data, &fs); err != nil {
		return fail("check --data", "look at the disk of %s: %v", d.cfg.Data, err)
	}
	free := fs.Bavail * uint64(fs.Bsize)
	var size uint64
	if d.folder != nil {
		size = uint64(max(d.folder.Size(), 0))
	}
	text := fmt.Sprintf("%s free, the database takes %s", terminal.FormatSize(free), terminal.FormatSize(size))
	switch {
	case free < d.minFree:
		return fail("free some: a full disk stops every decision", "%s; at least %s should be free", text,
			terminal.FormatSize(d.minFree))
	case free < size:
		return warn("free some, or write backups elsewhere", "%s: there is no room for a copy", text)
	}
	return passed("%s", text)
}

func (d *doctor) policy(ctx context.Context) diagnosis {
	version, doc, err := d.policyDocument(ctx)
	if err != nil {
		return fail("apply a valid document: `countersign policy apply FILE`", "%v", err)
	}
	doc, _, _ = doc.Ended(d.now) // what counts now, also if no server has written that down
	lines := warningLines(policy.Lint(doc))
	const remedy = "change it on the page Policy or with `countersign policy apply FILE`, if it is not meant"
	switch {
	case !doc.ApprovalEnabled:
		return fail(remedy, "version %d\n%s", version, lines)
	case lines != "":
		return warn(remedy, "version %d\n%s", version, lines)
	}
	if _, text, err := d.folder.Policy(ctx); err == nil && !policy.SaysUndo([]byte(text)) {
		return passed("version %d has no undo_seconds: approvals are sent at once and cannot be undone; new installations have %s", version, policy.Initial().UndoSeconds)
	}
	return passed("version %d, no findings", version)
}

func warningLines(warnings []policy.Warning) string {
	lines := make([]string, 0, len(warnings))
	for _, w := range warnings {
		lines = append(lines, w.Path+": "+w.Text)
	}
	return strings.Join(lines, "\n")
}

func (d *doctor) policyDocument(ctx context.Context) (int64, policy.Document, error) {
	version, text, err := d.folder.Policy(ctx)
	if err != nil {
		return 0, policy.Document{}, err
	}
	p, err := policy.ParseStored([]byte(text))
	if err != nil {
		return 0, policy.Document{}, fmt.Errorf("policy version %d: %w", version, err)
	}
	return version, p.Document(), nil
}

func (d *doctor) deciders(ctx context.Context) diagnosis {
	var emails []string
	var nobody, stuck []policy.Warning
	if _, doc, err := d.policyDocument(ctx); err == nil {
		emails = doc.Named()
		if nobody, stuck, err = d.folder.Approvable(ctx, doc); err != nil {
			return fail("see the database's check", "%v", err)
		}
	}
	const addAdmin = "add one: `countersign user add EMAIL --name NAME --role admin`"
	switch who, err := d.folder.Deciders(ctx, emails); {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case who.People == 0:
		return fail("open the setup link (`countersign setup-link`), or "+addAdmin, "nobody can sign in")
	case who.AdminOnly > 0:
		return fail(addAdmin, "nobody can decide %d pending requests", who.AdminOnly)
	case len(who.NoApprover) > 0:
		return fail(addAdmin, "requests of these agents are refused, for their owners are disabled and there is no admin: %s",
			strings.Join(who.NoApprover, ", "))
	case who.TooFew > 0:
		return fail("enable these people, or add others to the groups; else the requests expire",
			"not enough people are left who could sign %d pending requests", who.TooFew)
	case len(nobody) > 0:
		return fail("enable or add these people, or change the rules; until then such requests are refused", "%s",
			warningLines(nobody))
	case len(stuck) > 0:
		return warn("name another reviewer in the rule, or add an admin", "%s", warningLines(stuck))
	case len(who.Missing) > 0:
		return warn("add these people, or change the rules", "rules name reviewers who cannot sign in: %s",
			strings.Join(who.Missing, ", "))
	case who.Admins == 0:
		return warn(addAdmin, "people who can sign in: %d, none of them an admin: nobody can take over an owner's requests",
			who.People)
	default:
		return passed("people who can sign in: %d; admins: %d", who.People, who.Admins)
	}
}
