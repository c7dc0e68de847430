package cmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// serverOf is the server that an agent's command speaks to, the flag's or else
// the environment's, and its token. All that is wrong is one error, a line each.
func serverOf(flag string) (server, token string, err error) {
	if server = flag; server == "" {
		server = os.Getenv("COUNTERSIGN_SERVER")
	}
	if server == "" {
		server = "http://127.0.0.1:8080"
	}
	var wrong []error
	if err := checkServer(server); err != nil {
		wrong = append(wrong, fmt.Errorf("the server's address (COUNTERSIGN_SERVER): %w", err))
	}
	if token = os.Getenv("COUNTERSIGN_TOKEN"); token == "" {
		wrong = append(wrong, errors.New("COUNTERSIGN_TOKEN: must hold an agent's token (`countersign token add` makes one)"))
	}
	return strings.TrimSuffix(server, "/"), token, errors.Join(wrong...)
}

// checkServer refuses what is no address of a server.
func checkServer(address string) error {
	var target Config
	return setPublicURL(&target, address)
}
