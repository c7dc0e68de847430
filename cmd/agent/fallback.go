package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign/cmd/terminal"
	"countersign/handlers/api/wire"
	"countersign/models"
)

const (
	confirmationPrefix = "fallback"
	reportPrefix       = "report-"
)

// fallbackMemory keeps, in the user's cache folder, what a server last said to
// one token about going on without it, and the asks that did. An empty folder
// name means that nothing can be kept, and so nothing is believed.
//
// That fallback is on is kept for the tool that was asked about, and says nothing of any
// other. Bad news is for all of them: it clears the memory.
type fallbackMemory struct{ dir string }

// confirmation is what a server last said about fallback_auto_approve. Where it has an end
// it is kept in Until only, for programs that know of no ends read the file too: for them it
// is off.
type confirmation struct {
	On    bool      `json:"on"`
	Until time.Time `json:"until,omitzero"`
	At    time.Time `json:"at"`
}

// newFallbackMemory finds the folder of a server and token, by a hash of both.
func newFallbackMemory(server, token string) fallbackMemory {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fallbackMemory{}
	}
	sum := sha256.Sum256([]byte(server + "\x00" + token))
	return fallbackMemory{filepath.Join(cache, "countersign", hex.EncodeToString(sum[:16]))}
}

// confirmationFile is where it is kept what the server said of calls like this one.
func confirmationFile(req *wire.AskRequest) string {
	sum := sha256.Sum256([]byte(req.ToolName + "\x00" + req.Template))
	return confirmationPrefix + "-" + hex.EncodeToString(sum[:16]) + ".json"
}

// confirm notes what the server said at a time of calls like this one.
func (m fallbackMemory) confirm(req *wire.AskRequest, said wire.FallbackState, at time.Time) error {
	if !said.On {
		return m.forget()
	}
	return m.write(confirmationFile(req), confirmation{said.Until.IsZero(), said.Until.UTC(), at.UTC()})
}

// forget believes nothing any more. Where a file can't be removed, it is emptied.
func (m fallbackMemory) forget() error {
	if m.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), confirmationPrefix) {
			continue
		}
		path := filepath.Join(m.dir, e.Name())
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) && os.Truncate(path, 0) != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// believed reports whether the fallback may be used for a call at now: at most ten minutes
// ago, the server said of calls like it that it is on, and its end has not come.
func (m fallbackMemory) believed(req *wire.AskRequest, now time.Time) bool {
	var c confirmation
	if err := m.read(confirmationFile(req), &c); err != nil {
		return false
	}
	age := now.Sub(c.At)
	on := c.On || now.Before(c.Until)
	return on && age >= 0 && age <= models.FallbackBelieved
}

// keepReport writes down an ask that goes on without the server.
func (m fallbackMemory) keepReport(req wire.AskRequest) error {
	return m.write(reportPrefix+req.ApprovalID+".json", req)
}

// reports are the asks that the server has not heard of. One that cannot be read
// is left where it is.
func (m fallbackMemory) reports() []wire.AskRequest {
	if m.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil
	}
	var out []wire.AskRequest
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), reportPrefix) {
			continue
		}
		var req wire.AskRequest
		if m.read(e.Name(), &req) == nil && req.Fallback != nil {
			out = append(out, req)
		}
	}
	return out
}

// dropReport forgets a report that was heard. If that fails it is sent again,
// and is the same request.
func (m fallbackMemory) dropReport(req wire.AskRequest) {
	_ = os.Remove(filepath.Join(m.dir, reportPrefix+req.ApprovalID+".json"))
}

func (m fallbackMemory) write(name string, v any) error {
	if m.dir == "" {
		return errors.New("there is no cache folder: HOME and XDG_CACHE_HOME are not set")
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return terminal.WritePrivate(filepath.Join(m.dir, name), string(raw))
}

func (m fallbackMemory) read(name string, v any) error {
	if m.dir == "" {
		return os.ErrNotExist
	}
	raw, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}
