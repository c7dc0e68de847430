package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"countersign/models/agentsettings"
)

// managedFolder is where the agent reads the settings of who manages the machine.
func managedFolder() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// managedPreferences are settings of managed machines in a form that is not read here, only
// searched for names.
func managedPreferences() []string {
	if runtime.GOOS != "darwin" {
		return nil
	}
	const folder, name = "/Library/Managed Preferences", "com.anthropic.claudecode.plist"
	return []string{filepath.Join(folder, name), filepath.Join(folder, os.Getenv("USER"), name)}
}

// hooksRun fails if settings that the agent reads say that it runs no hook of those that are
// connected: managed ones on this machine, managed ones that the agent fetched, the person's,
// those of the project in the current folder, and those for the person alone in it.
func hooksRun(project bool, policyDir string) error {
	if err := managedLetHooksRun(policyDir); err != nil {
		return err
	}
	users, err := settingsDir(false)
	if err != nil {
		return fmt.Errorf("find the settings: %w", err)
	}
	here, err := settingsDir(true)
	if err != nil {
		return fmt.Errorf("find the settings: %w", err)
	}
	user := filepath.Join(users, "settings.json")
	layers := []string{filepath.Join(here, "settings.local.json"), filepath.Join(here, "settings.json"), user}
	if !project { // they are for other folders too, where the nearer ones are not
		if err := anyLetsHooksRun(user); err != nil {
			return err
		}
	}
	return anyLetsHooksRun(layers...)
}

// anyLetsHooksRun reads settings, the nearest first: those that say anything about it count.
func anyLetsHooksRun(paths ...string) error {
	for _, path := range paths {
		s := settingsFile{path: path}
		if err := s.read(); err != nil {
			return err
		}
		off, said, err := agentsettings.Off(s.text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w; nothing was changed", path, err)
		case off:
			return fmt.Errorf("%s: disableAllHooks is set, so Claude Code would run no hook and let calls through: "+
				"remove it first; nothing was changed", path)
		case said:
			return nil
		}
	}
	return nil
}

// managedLetHooksRun reads all managed settings: no other layer can overrule them.
func managedLetHooksRun(folder string) error {
	users, err := settingsDir(false)
	if err != nil {
		return fmt.Errorf("find the settings: %w", err)
	}
	paths := []string{filepath.Join(users, "remote-settings.json"), filepath.Join(folder, "managed-settings.json")}
	parts, err := os.ReadDir(filepath.Join(folder, "managed-settings.d"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the managed settings: %w; nothing was changed", err)
	}
	for _, part := range parts {
		if filepath.Ext(part.Name()) == ".json" {
			paths = append(paths, filepath.Join(folder, "managed-settings.d", part.Name()))
		}
	}
	for _, path := range paths {
		s := settingsFile{path: path}
		if err := s.read(); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
		member, err := agentsettings.ManagedOff(s.text)
		if err != nil {
			return fmt.Errorf("%s: %w; nothing was changed", path, err)
		}
		if member != "" {
			return managedOff(path, member)
		}
	}
	return preferencesLetHooksRun()
}

// preferencesLetHooksRun searches the settings that are not read.
func preferencesLetHooksRun() error {
	for _, path := range managedPreferences() {
		s := settingsFile{path: path}
		if err := s.read(); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
		for _, member := range []string{"disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"} {
			if bytes.Contains(s.text, []byte(member)) {
				return managedOff(path, member)
			}
		}
	}
	return nil
}

func managedOff(path, member string) error {
	return fmt.Errorf("%s: %s is set in managed settings, so Claude Code would not run this hook and let calls through: "+
		"ask who manages them to lift it, or to install the hook there; nothing was changed", path, member)
}
