package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
)

// connection is the note of one settings file that was connected: how to undo it. It is
// kept with the token, where only its owner reads it.
type connection struct {
	Settings   string `json:"settings"`
	Existed    bool   `json:"existed"`
	MadeFolder bool   `json:"made_folder"`
	Backup     string `json:"backup,omitempty"`
	After      string `json:"after"` // the digest of the text that was written
}

const connectionPrefix, backupPrefix = "connection-", "backup-"

// connectionsDir is where notes and backups are.
func connectionsDir() (string, error) {
	file, err := remote.CredentialsFile()
	return filepath.Dir(file), err
}

// connectionFile is the note of one settings file.
func connectionFile(prefix, settings string) (string, error) {
	dir, err := connectionsDir()
	return filepath.Join(dir, prefix+digestOf([]byte(settings))[:16]+".json"), err
}

// readConnection reads the note of a settings file; nil: there is none.
func readConnection(settings string) (*connection, error) {
	path, err := connectionFile(connectionPrefix, settings)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was connected: %w", err)
	}
	var c connection
	if err := json.Unmarshal(raw, &c); err != nil || c.Settings != settings {
		return nil, nil //nolint:nilerr // it is no note of ours: the hooks are found in the file itself
	}
	return &c, nil
}

// write stores the note.
func (c *connection) write() error {
	path, err := connectionFile(connectionPrefix, c.Settings)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode what is connected: %w", err)
	}
	if err := terminal.WritePrivate(path, string(raw)+"\n"); err != nil {
		return fmt.Errorf("note what is connected: %w; `countersign disconnect` can still remove the hooks", err)
	}
	return nil
}

// forgetConnection removes the note and the backup of a settings file, and the token with the
// last of them. It returns what it could not remove.
func forgetConnection(settings string) error {
	var wrong []error
	for _, prefix := range []string{connectionPrefix, backupPrefix} {
		path, err := connectionFile(prefix, settings)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, err)
		}
	}
	dir, err := connectionsDir()
	if err != nil {
		return errors.Join(append(wrong, err)...)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(append(wrong, err)...)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), connectionPrefix) {
			return errors.Join(wrong...)
		}
	}
	file, err := remote.CredentialsFile()
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		wrong = append(wrong, err)
	}
	_ = os.Remove(dir) // only if nothing else is in it
	return errors.Join(wrong...)
}
