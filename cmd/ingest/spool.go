package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"countersign/models"
)

const (
	// maxReport is the most that goes into one request, in bytes; the server takes
	// no more than models.MaxBody.
	maxReport = models.MaxBody - 4096
	// maxReported is the most events of one request: an answer names each.
	maxReported = 500
)

// errNoSpool says that a file holds what no ingest wrote.
var errNoSpool = errors.New("is not a file of events")

// spool is a file of events that wait to be handed over, one a line. The process that has it open holds a lock on it: a
// file without a lock was left by an ingest that was killed or found no server.
type spool struct {
	path string
	more chan struct{} // one token: something was added, or nothing will be

	mu       sync.Mutex
	file     *os.File
	size     int64 // of whole lines
	sent     int64
	complete bool
}

// spoolPattern names the files of a run at a server. The token is no part of it:
// a token that expired is replaced, and the run goes on.
func spoolPattern(dir, server, run, rest string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + run))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+"-"+rest+".ndjson")
}

// newSpool makes an empty one. It is locked before it gets a name by which others
// look for files.
func newSpool(dir, server, run string) (*spool, error) {
	if dir == "" {
		return nil, errors.New("there is no cache folder: HOME and XDG_CACHE_HOME are not set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return nil, err
	}
	path := spoolPattern(dir, server, run, string(models.NewID[models.ResponseID]()))
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return &spool{path: path, file: file, more: make(chan struct{}, 1)}, nil
}

// leftSpools are the unlocked spools of a run, oldest first.
func leftSpools(dir, server, run string) []*spool {
	if dir == "" {
		return nil
	}
	paths, err := filepath.Glob(spoolPattern(escapeGlob(dir), server, run, "*"))
	if err != nil {
		return nil
	}
	var spools []*spool // Glob sorts, and the names begin with their time
	for _, path := range paths {
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		if err != nil || info.Mode() != 0o600 || unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			file.Close()
			continue
		}
		spools = append(spools, &spool{path: path, file: file, size: info.Size(), complete: true})
	}
	return spools
}

// escapeGlob quotes a folder's name for use in a pattern.
func escapeGlob(dir string) string {
	var b bytes.Buffer
	for i := range len(dir) {
		if c := dir[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(dir[i])
	}
	return b.String()
}

// add appends whole lines. They outlive the process, also if it is killed; nothing is
// synced, for the agent has them too when the machine goes down.
func (s *spool) add(lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(lines, s.size); err != nil {
		return errors.Join(err, s.file.Truncate(s.size)) // half a line would spoil the next
	}
	s.size += int64(len(lines))
	s.wake()
	return nil
}

// close says that nothing will be added.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete = true
	s.wake()
}

func (s *spool) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// next is what to send next, in whole lines that fit into one request: nothing if
// all was sent, and last if nothing will be added either.
func (s *spool) next() (lines []byte, last bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf := make([]byte, min(maxReport, s.size-s.sent))
	n, err := s.file.ReadAt(buf, s.sent)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.complete, fmt.Errorf("read %s: %w", s.path, err)
	}
	end := 0
	for range maxReported {
		i := bytes.IndexByte(buf[end:n], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	if end == 0 && n == maxReport {
		return nil, s.complete, fmt.Errorf("%s %w", s.path, errNoSpool)
	}
	return buf[:end], s.complete, nil
}

// done forgets the first n events, which were sent. A file whose lines are all sent is emptied, so that a long run does
// not fill the disk.
func (s *spool) done(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent += int64(n); s.sent < s.size {
		return
	}
	if s.file.Truncate(0) == nil {
		s.size, s.sent = 0, 0
	}
}

// release lets go of the file, and removes it if nothing in it is of use.
func (s *spool) release(remove bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if remove {
		err = os.Remove(s.path)
	}
	return errors.Join(err, s.file.Close())
}
