package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
)

// serverOf is the server that an agent's command speaks to, the flag's or else
// the environment's, and its token. All that is wrong is one error, a line each.
func serverOf(flag string) (server, token string, err error) {
	var wrong []error
	if server, err = addressOf(flag); err != nil {
		wrong = append(wrong, err)
	}
	if token = os.Getenv("COUNTERSIGN_TOKEN"); token == "" {
		wrong = append(wrong, errors.New("COUNTERSIGN_TOKEN: must be an agent's token (`countersign token add` makes one)"))
	}
	return server, token, errors.Join(wrong...)
}

// addressOf is the flag's server, or else the environment's.
func addressOf(flag string) (string, error) {
	server := cmp.Or(flag, os.Getenv("COUNTERSIGN_SERVER"), "http://127.0.0.1:8080")
	if err := checkServer(server); err != nil {
		return "", fmt.Errorf("the server's address (COUNTERSIGN_SERVER): %w", err)
	}
	return strings.TrimSuffix(server, "/"), nil
}

// checkServer refuses what is no address of a server.
func checkServer(address string) error {
	var target Config
	return setPublicURL(&target, address)
}
