package audit

import (
	"bufio"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/store"
)

func newAuditExport() *cobra.Command {
	var format, email, since string
	c := &cobra.Command{
		Use:   "export --format jsonl|csv [--user EMAIL] [--since TIME|DURATION]",
		Short: "Print the ledger, oldest entry first",
		Long: "Print the ledger, oldest entry first: digests and outcomes, never inputs.\n\n" +
			"Names in it are what people and agents called themselves. Characters that would not be\n" +
			"seen are escaped: in JSON as \\u202e, which a parser decodes, in CSV as ⟨U+202E⟩. CSV\n" +
			"cells that a spreadsheet would take for a formula begin with an apostrophe.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVar(&email, "user", "", "only what this person did or owns, by e-mail")
	c.Flags().StringVar(&since, "since", "",
		"only from a time (2026-03-01, 2026-03-01T08:00:00Z) or a length of time ago (30d, 12h)")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		write, ok := exports[format]
		if !ok {
			return errors.New("--format: must be jsonl or csv")
		}
		q, err := exportQuery(c, s, email, since)
		if err != nil {
			return err
		}
		out := bufio.NewWriterSize(c.OutOrStdout(), 64<<10)
		put, err := write(out)
		if err != nil {
			return err
		}
		for e, err := range s.Ledger.Export(c.Context(), data.Operator(), q) {
			if err != nil {
				return errors.Join(err, out.Flush())
			}
			if err := put(e); err != nil {
				return fmt.Errorf("write entry %d: %w", e.Seq, err)
			}
		}
		return out.Flush()
	})
}

func exportQuery(c *cobra.Command, s *store.Store, email, since string) (q ledger.ExportQuery, err error) {
	if q.Since, err = parseSince(since, s.Now()); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if email == "" {
		return q, nil
	}
	u, err := s.People.UserByEmail(c.Context(), data.Operator(), email)
	if err != nil {
		return q, fmt.Errorf("--user: %w", err)
	}
	q.User = u.ID
	return q, nil
}

// parseSince reads a day, a time, or a length of time before now. Empty is the
// zero time.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	ago, err := terminal.ParseLife(s)
	if err != nil {
		return time.Time{}, errors.New("must be a day (2026-03-01), a time (2026-03-01T08:00:00Z) or a length of time (30d, 12h)")
	}
	return now.Add(-ago), nil
}

// exports are the formats: each begins a file and gives what writes an entry.
var exports = map[string]func(io.Writer) (func(models.Entry) error, error){
	"jsonl": exportJSON,
	"csv":   exportCSV,
}

// exportedEntry is an entry as JSON Lines tell it.
type exportedEntry struct {
	Seq            int64                 `json:"seq"`
	At             string                `json:"at"`
	ActorKind      models.ActorKind      `json:"actorKind"`
	ActorID        string                `json:"actorId"`
	ActorName      string                `json:"actorName"`
	Action         string                `json:"action"`
	OwnerID        models.UserID         `json:"ownerId"`
	ConversationID models.ConversationID `json:"conversationId"`
	ResponseID     models.ResponseID     `json:"responseId"`
	Data           any                   `json:"data"` // an object, or the text in its place
	Prev           string                `json:"prev"`
	Hash           string                `json:"hash"`
}

func exportJSON(w io.Writer) (func(models.Entry) error, error) {
	return func(e models.Entry) error {
		var data any = e.Data
		if json.Valid([]byte(e.Data)) {
			data = json.RawMessage(e.Data)
		}
		line, err := json.Marshal(exportedEntry{
			e.Seq, e.At, e.ActorKind, e.ActorID, e.ActorName, e.Action, e.OwnerID, e.ConversationID, e.ResponseID,
			data, hex.EncodeToString(e.Prev), hex.EncodeToString(e.Hash),
		})
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, models.VisibleJSON(string(line))+"\n")
		return err
	}, nil
}

func exportCSV(w io.Writer) (func(models.Entry) error, error) {
	out := csv.NewWriter(w)
	put := func(row []string) error {
		err := out.Write(row)
		out.Flush() // w gathers
		return errors.Join(err, out.Error())
	}
	header := []string{
		"seq", "at", "actor_kind", "actor_id", "actor_name", "action", "owner_id", "conversation_id", "response_id", "data",
		"prev", "hash",
	}
	return func(e models.Entry) error {
		row := []string{
			strconv.FormatInt(e.Seq, 10), e.At, string(e.ActorKind), e.ActorID, e.ActorName, e.Action,
			string(e.OwnerID), string(e.ConversationID), string(e.ResponseID), e.Data, hex.EncodeToString(e.Prev),
			hex.EncodeToString(e.Hash),
		}
		for i := range row {
			row[i] = models.HarmlessCell(row[i])
		}
		return put(row)
	}, put(header)
}
