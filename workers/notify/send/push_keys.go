package send

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"countersign/models"
)

// PushKeys are the server's keys for web push (VAPID), in a file that is made when they are
// first needed. Without it, browsers have to subscribe again.
type PushKeys struct {
	path string

	mu  sync.Mutex
	key *ecdh.PrivateKey
}

// NewPushKeys are those of a data folder. Nothing is read or made yet.
func NewPushKeys(folder string) *PushKeys {
	return &PushKeys{path: filepath.Join(folder, models.PushKeyFile)}
}

// Public is what a browser subscribes with (applicationServerKey), in base64url.
func (k *PushKeys) Public() (string, error) {
	_, public, err := k.pair()
	return public, err
}

// pair is both keys, in base64url.
func (k *PushKeys) pair() (private, public string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == nil {
		if k.key, err = k.load(); err != nil {
			return "", "", err
		}
	}
	return base64.RawURLEncoding.EncodeToString(k.key.Bytes()), base64.RawURLEncoding.EncodeToString(k.key.PublicKey().Bytes()), nil
}

func (k *PushKeys) load() (*ecdh.PrivateKey, error) {
	raw, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = makeKeyFile(k.path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key for push messages: %w", err)
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("the file %s in the data folder is damaged; without it a new one is made, and browsers have to subscribe again", models.PushKeyFile)
	}
	return key, nil
}

// makeKeyFile makes the file, or reads the one that another process has just made.
func makeKeyFile(path string) ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".push-key-*") // readable by its owner alone
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(key.Bytes()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}
