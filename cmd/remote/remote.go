package remote

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"countersign/cmd/config"
	"countersign/handlers/api/client"
)

// The exit codes of commands that speak to a server, where there was no decision.
const (
	ExitUnreachable = 3
	ExitOther       = 4 // token, input, conflict: the text says
)

// standard is where a server listens that was told nothing else.
const standard = "http://127.0.0.1:8080"

// AddFlag makes the flag that names the server.
func AddFlag(flags *pflag.FlagSet, server *string) {
	flags.StringVar(server, "server", "", "the server's address (default "+standard+") [COUNTERSIGN_SERVER]")
}

// Server is the server that an agent's command speaks to, the flag's or else
// the environment's, and its token. All that is wrong is one error, a line each.
func Server(flag string) (server, token string, err error) {
	var wrong []error
	if server, err = Address(flag); err != nil {
		wrong = append(wrong, err)
	}
	if token = os.Getenv("COUNTERSIGN_TOKEN"); token == "" {
		wrong = append(wrong, errors.New("COUNTERSIGN_TOKEN: must be an agent's token (`countersign token add` makes one)"))
	}
	return server, token, errors.Join(wrong...)
}

// Address is the flag's server, or else the environment's.
func Address(flag string) (string, error) {
	server := cmp.Or(flag, os.Getenv("COUNTERSIGN_SERVER"), standard)
	if err := config.CheckURL(server); err != nil {
		return "", fmt.Errorf("the server's address (COUNTERSIGN_SERVER): %w", err)
	}
	return strings.TrimSuffix(server, "/"), nil
}

// AnswerText is what the server said, with the fields that it named.
func AnswerText(err error) error {
	var answer *client.AnswerError
	if !errors.As(err, &answer) || len(answer.Fields) == 0 {
		return err
	}
	lines := make([]string, 0, len(answer.Fields))
	for _, f := range answer.Fields {
		if line := f.Field + " " + f.Message; !strings.Contains(answer.Text, f.Message) {
			lines = append(lines, line)
		}
	}
	return errors.New(strings.TrimSpace(answer.Text + " " + strings.Join(lines, "; ")))
}
