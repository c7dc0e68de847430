package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"countersign/models"
)

// KeyFile is where the key lies that seals what must be used again and never shown:
// the keys of upstreams, and where channels of notifications go. A backup of the database alone does not open them.
type KeyFile string

// KeyFileBeside is the key file in the folder of a database.
func KeyFileBeside(database string) KeyFile {
	return KeyFile(filepath.Join(filepath.Dir(database), models.KeyFile))
}

// seal encrypts a secret with the data folder's key file, which it makes when it
// is first needed. about ties it to what it belongs to.
func (s *Store) seal(secret, about string) ([]byte, error) {
	return KeyFileBeside(s.Path()).Seal(secret, about)
}

// Seal encrypts a secret. about ties it to what it belongs to. The file is made when it is first
// needed.
func (k KeyFile) Seal(secret, about string) ([]byte, error) {
	box, err := k.box(true)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return box.Seal(nonce, nonce, []byte(secret), []byte(about)), nil
}

// unseal is the secret that was sealed about the same.
func (s *Store) unseal(ciphertext []byte, about string) (string, error) {
	return KeyFileBeside(s.Path()).Unseal(ciphertext, about)
}

// Unseal is the secret that was sealed about the same.
func (k KeyFile) Unseal(ciphertext []byte, about string) (string, error) {
	box, err := k.box(false)
	if err != nil {
		return "", err
	}
	if len(ciphertext) < box.NonceSize() {
		return "", errors.New("a sealed key is too short")
	}
	secret, err := box.Open(nil, ciphertext[:box.NonceSize()], ciphertext[box.NonceSize():], []byte(about))
	if err != nil {
		return "", fmt.Errorf("the key file %s in the data folder is not the one that sealed this: set it again",
			models.KeyFile)
	}
	return string(secret), nil
}

const keyBytes = 32

func (k KeyFile) box(create bool) (cipher.AEAD, error) {
	key, err := os.ReadFile(string(k))
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		key, err = newKeyFile(string(k))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no key file %s in the data folder", models.KeyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("the key file %s in the data folder is damaged: %d bytes, want %d", models.KeyFile, len(key),
			keyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use key file: %w", err)
	}
	return cipher.NewGCM(block)
}

// newKeyFile makes the file, or reads the one that another process has just made.
func newKeyFile(path string) ([]byte, error) {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".upstream-key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(key); err != nil {
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
