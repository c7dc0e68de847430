package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
)

// Of reads the settings of a command, and refuses variables that no setting has: one that is
// misspelt would leave its setting as it is, such as a limit or a list of proxies.
func Of(c *cobra.Command) (Config, error) {
	if err := checkVariables(os.Environ()); err != nil {
		return Config{}, err
	}
	return Read(c.Flags(), os.LookupEnv)
}

// ofServices are variables that Kubernetes sets in each container for a service of our name.
var ofServices = regexp.MustCompile(`^COUNTERSIGN_(?:[A-Z0-9_]+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// variables are all that some command reads.
func variables() []string {
	known := []string{
		"COUNTERSIGN_SERVER", "COUNTERSIGN_TOKEN", LLMKeyEnv, SMTPPasswordEnv, UpstreamKeyEnv, WebhookSecretEnv,
	}
	for _, s := range All() {
		known = append(known, s.Env())
	}
	return known
}

func checkVariables(environ []string) error {
	known := variables()
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "COUNTERSIGN_") || slices.Contains(known, name) || ofServices.MatchString(name) {
			continue
		}
		like := slices.MinFunc(known, func(a, b string) int { return edits(a, name) - edits(b, name) })
		text := fmt.Sprintf("there is no setting %s", name)
		if edits(like, name) <= len(name)/4 {
			text += fmt.Sprintf("; did you mean %s?", like)
		} else {
			text += "; `countersign serve --help` names the variables"
		}
		return terminal.Exit(terminal.ExitUsage, fmt.Errorf("%s", text))
	}
	return nil
}

// edits is how many letters differ between two words: added, left out or others.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// UpstreamKeyEnv holds the key of the upstream that a command is about.
const UpstreamKeyEnv = "COUNTERSIGN_UPSTREAM_KEY"

// WebhookSecretEnv is the variable with an endpoint's secret. There is no flag: others on
// the machine can read a process's arguments.
const WebhookSecretEnv = "COUNTERSIGN_WEBHOOK_SECRET"
