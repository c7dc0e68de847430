package doctor

import (
	"context"
	"errors"
	"strings"

	"countersign/cmd/data"
	"countersign/models"
)

// rows compares all rows and the schema with what the ledger and the migrations
// say.
func (d *doctor) rows(ctx context.Context) diagnosis {
	found, err := d.folder.Rows(ctx)
	if _, broken := errors.AsType[*models.ChainError](err); broken {
		return diagnosis{Result: checkSkipped, Text: "needs the ledger"}
	}
	switch {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case found.Found > 0:
		return fail("keep this file as evidence, run `countersign audit verify --rows` for all of it, find out who could write the file, and compare with a backup",
			"%d do not match the ledger\n%s", found.Found, strings.TrimSpace(data.FaultLines(found, 3)))
	case found.Uncovered() > 0:
		return passed("%d compared, all match the ledger; %d of them as an older version left them", found.Rows(),
			found.Uncovered())
	}
	return passed("%d compared, all match the ledger", found.Rows())
}
