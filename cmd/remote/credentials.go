package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/cmd/config"
	"countersign/cmd/terminal"
)

// Credentials are the server and the agent's token that `connect` stores for a person's
// hooks, in a file that only they may read.
type Credentials struct {
	Server string `json:"server"`
	Token  string `json:"token"`
}

// CredentialsFile is where they are kept.
func CredentialsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(dir, "countersign", "claude-code.json"), nil
}

// ReadCredentials reads them, and refuses a file that others may read or write: they could
// name another server.
func ReadCredentials(path string) (Credentials, error) {
	var c Credentials
	info, err := os.Stat(path)
	if err != nil {
		return c, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return c, fmt.Errorf("%s may be read or changed by others (mode %04o): run chmod 600 on it", path, mode)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(raw, &c, json.RejectUnknownMembers(true)); err != nil || c.Server == "" || c.Token == "" {
		return c, fmt.Errorf("%s: must be JSON with server and token; run `countersign connect claude-code` again", path)
	}
	if err := config.CheckURL(c.Server); err != nil {
		return c, fmt.Errorf("%s: server: %w", path, err)
	}
	return c, nil
}

// Write stores them for their owner alone.
func (c Credentials) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder for settings: %w", err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode credentials: %w", err)
	}
	return terminal.WritePrivate(path, string(raw)+"\n")
}

// HookServer is the server that a hook speaks to, and its token: of the file that was
// named, else of the environment, else of the stored file. A token is sent to no other
// server than the one that it came with.
func HookServer(server, path string) (address, token string, err error) {
	if path == "" && os.Getenv("COUNTERSIGN_TOKEN") != "" {
		return Server(server)
	}
	explicit := path != ""
	if !explicit {
		if path, err = CredentialsFile(); err != nil {
			return "", "", err
		}
		if server == "" {
			server = os.Getenv("COUNTERSIGN_SERVER")
		}
	}
	c, err := ReadCredentials(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return "", "", errors.New("COUNTERSIGN_TOKEN: must be an agent's token, or run `countersign connect claude-code`")
	}
	if err != nil {
		return "", "", err
	}
	address = strings.TrimSuffix(c.Server, "/")
	if server != "" && strings.TrimSuffix(server, "/") != address {
		return "", "", fmt.Errorf("the token in %s belongs to a different server: set COUNTERSIGN_TOKEN too", path)
	}
	return address, c.Token, nil
}
