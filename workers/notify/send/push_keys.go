package send

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync"

	"countersign/models"
)

// PushKeys are the server's keys for web push (VAPID), from a file that is made when they are
// first needed. Without it, browsers have to subscribe again.
type PushKeys struct {
	load func() ([]byte, error)

	mu  sync.Mutex
	key *ecdh.PrivateKey
}

// NewPushKeys are those that load reads, once they are needed.
func NewPushKeys(load func() ([]byte, error)) *PushKeys { return &PushKeys{load: load} }

// NewPushKey is what the file begins with.
func NewPushKey() ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key for push messages: %w", err)
	}
	return key.Bytes(), nil
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
		raw, err := k.load()
		if err != nil {
			return "", "", err
		}
		if k.key, err = ecdh.P256().NewPrivateKey(raw); err != nil {
			return "", "", fmt.Errorf("the file %s in the data folder is damaged; without it a new one is made, and browsers have to subscribe again", models.PushKeyFile)
		}
	}
	return base64.RawURLEncoding.EncodeToString(k.key.Bytes()), base64.RawURLEncoding.EncodeToString(k.key.PublicKey().Bytes()), nil
}
