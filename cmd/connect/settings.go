package connect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"countersign/cmd/terminal"
	"countersign/models/agentsettings"
)

const (
	modeProjectSettings = 0o644 // shared by those who work on the project
	modeUserSettings    = 0o600
)

// settingsFile is a settings file as it was read.
type settingsFile struct {
	path   string // behind symbolic links, absolute
	text   []byte
	exists bool
	mode   fs.FileMode
}

// openSettings reads the settings of the project in the current folder, or the person's.
func openSettings(project bool) (settingsFile, error) {
	s := settingsFile{mode: modeUserSettings}
	dir, err := settingsDir(project)
	if err != nil {
		return s, fmt.Errorf("find the settings: %w", err)
	}
	if project {
		s.mode = modeProjectSettings
	}
	s.path = filepath.Join(dir, "settings.json")
	if target, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = target
	} else if _, dangles := os.Lstat(s.path); dangles == nil {
		return s, fmt.Errorf("%s is a link to a file that is not there: %w", s.path, err)
	}
	return s, s.read()
}

// settingsDir is where the agent looks for its settings.
func settingsDir(project bool) (string, error) {
	if own := os.Getenv("CLAUDE_CONFIG_DIR"); own != "" && !project {
		return filepath.Abs(own)
	}
	dir, err := os.UserHomeDir()
	if project {
		dir, err = os.Getwd()
	}
	return filepath.Join(dir, ".claude"), err
}

// read takes the file as it is.
func (s *settingsFile) read() error {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", s.path)
	}
	if s.text, err = os.ReadFile(s.path); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	s.exists, s.mode = true, info.Mode().Perm()
	return nil
}

// diff is the change to a text, for people.
func (s *settingsFile) diff(next []byte) string {
	return udiff.Unified(s.path, s.path+" (new)", string(s.text), string(next))
}

// before are the settings without our hooks: what disconnecting leaves.
type before struct {
	text   []byte
	exists bool
	backup string // where they are kept; empty: nowhere yet
	made   bool   // the folder was made by connecting
}

func (b *before) keptAt() string {
	if b.backup == "" {
		return ""
	}
	return "; a backup is in " + terminal.Plain(b.backup)
}

// keep writes a backup where there is something to keep.
func (b *before) keep(settings string) (err error) {
	if !b.exists {
		return nil
	}
	if b.backup, err = connectionFile(backupPrefix, settings); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.backup), 0o700); err != nil {
		return fmt.Errorf("make the folder for settings: %w; nothing was changed", err)
	}
	if err := terminal.WritePrivate(b.backup, string(b.text)); err != nil {
		return fmt.Errorf("write a backup: %w; nothing was changed", err)
	}
	return nil
}

// disconnected are the settings before they were connected: byte for byte if nothing has
// changed them since, else as they are without our hooks.
func (s *settingsFile) disconnected() (*before, error) {
	kept, err := readConnection(s.path)
	if err != nil {
		return nil, err
	}
	if kept != nil && s.exists && kept.After == digestOf(s.text) {
		b := &before{exists: kept.Existed, backup: kept.Backup, made: kept.MadeFolder}
		if b.exists {
			if b.text, err = os.ReadFile(kept.Backup); err != nil {
				return nil, fmt.Errorf("read the backup: %w", err)
			}
		}
		return b, nil
	}
	text, _, err := agentsettings.Remove(s.text, isOurHook)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing was changed", s.path, err)
	}
	return &before{text: text, exists: s.exists}, nil
}

// connect writes the settings with our hooks. The backup is there before them, and the note
// of what they were is after: without one only the hooks themselves are taken away again.
func (s *settingsFile) connect(base *before, next []byte) error {
	made, err := s.makeFolder()
	if err != nil {
		return err
	}
	base.made = base.made || made
	if err := base.keep(s.path); err != nil {
		return err
	}
	if err := s.write(next); err != nil {
		return err
	}
	c := &connection{
		Settings: s.path, Existed: base.exists, MadeFolder: base.made, Backup: base.backup, After: digestOf(next),
	}
	return c.write()
}

// writable refuses a file that may not be written, though its folder would allow it.
func (s *settingsFile) writable() error {
	if s.exists && s.mode&0o200 == 0 {
		return fmt.Errorf("%s is read-only; nothing was changed", s.path)
	}
	return nil
}

// makeFolder makes the settings' folder where it is missing.
func (s *settingsFile) makeFolder() (made bool, err error) {
	dir := filepath.Dir(s.path)
	if _, err := os.Stat(dir); err == nil {
		return false, nil
	}
	mode := fs.FileMode(0o755)
	if s.mode == modeUserSettings {
		mode = 0o700
	}
	if err := os.Mkdir(dir, mode); err != nil {
		return false, fmt.Errorf("make the settings' folder: %w", err)
	}
	return true, nil
}

// write replaces the file in one step, if it has not changed since it was read.
func (s *settingsFile) write(next []byte) error {
	f, err := os.CreateTemp(filepath.Dir(s.path), ".settings-*")
	if err != nil {
		return fmt.Errorf("write the settings: %w; nothing was changed", err)
	}
	defer os.Remove(f.Name()) // it is gone once it was renamed
	_, err = f.Write(next)
	if err = errors.Join(err, f.Chmod(s.mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the settings: %w; nothing was changed", err)
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.path); err != nil {
		return fmt.Errorf("write the settings: %w; nothing was changed", err)
	}
	return nil
}

// unchanged fails if the file is not as it was read.
func (s *settingsFile) unchanged() error {
	now := settingsFile{path: s.path}
	if err := now.read(); err != nil {
		return err
	}
	if now.exists != s.exists || !bytes.Equal(now.text, s.text) {
		return fmt.Errorf("%s was changed in the meantime; nothing was written, run this again", s.path)
	}
	return nil
}

// restore writes the settings without our hooks, and takes away what connecting made.
func (s *settingsFile) restore(to *before) error {
	if to.exists {
		return s.write(to.text)
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(s.path); err != nil {
		return fmt.Errorf("remove the settings: %w", err)
	}
	if to.made {
		_ = os.Remove(filepath.Dir(s.path)) // only if nothing else is in it
	}
	return nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
