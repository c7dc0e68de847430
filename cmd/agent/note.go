package agent

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"countersign/cmd/remote"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// Note is the command by which an agent answers what a reviewer asks.
func Note() *cobra.Command {
	var server string
	c := &cobra.Command{
		Use:   "note ID TEXT",
		Short: "Answer a reviewer's question about a request",
		Long: "Answer a reviewer's question about a request, or add to what it says:\n\n" +
			"    countersign note 0198a5c2-7d10-7c33-a2f4-6d1f1f0b7d42 \"No, it ran yesterday.\"\n\n" +
			"ID is the request's, as `countersign ask` prints it. TEXT of - is read from standard\n" +
			"input. COUNTERSIGN_SERVER is the server's address and COUNTERSIGN_TOKEN the token of\n" +
			"the agent that asked; with a reviewer's token TEXT is a question to that agent.\n\n" +
			"A question stops the clock of a request; its answer lets it run on.",
		Args: cobra.ExactArgs(2),
	}
	remote.AddFlag(c.Flags(), &server)
	c.RunE = func(c *cobra.Command, args []string) error {
		address, token, err := remote.Server(server)
		id, idErr := models.ParseID[models.ResponseID]("ID", args[0])
		text, textErr := noteText(c.InOrStdin(), args[1])
		if err := errors.Join(err, idErr, textErr); err != nil {
			return err
		}
		got, err := client.New(address, token).Note(c.Context(), wire.ResponseID(id), text)
		if err != nil {
			return remote.AnswerText(err)
		}
		said := "noted"
		if got.Note.Asks {
			said = "asked"
		}
		if got.TimeoutAt != nil {
			said += "; the request stays open until " + got.TimeoutAt.Local().Format("2006-01-02 15:04:05 MST")
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), said)
		return err
	}
	return c
}

// noteText is the text as given, or from standard input.
func noteText(stdin io.Reader, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	raw, err := io.ReadAll(io.LimitReader(stdin, models.MaxNote+2))
	return strings.TrimSuffix(string(raw), "\n"), err
}
