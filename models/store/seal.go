package store

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"countersign/models"
	"countersign/models/db"
)

// Sealer encrypts what must be used again and never shown, by the key file: the keys of upstreams, and where channels of
// notifications go. A backup of the database alone does not open them.
type Sealer struct {
	path  string
	check func(file string, key []byte) error // nil: only one machine has the file
}

// SealerIn is the one by the key file of a folder, if there is one.
func SealerIn(folder string) Sealer { return Sealer{path: filepath.Join(folder, models.KeyFile)} }

// Sealer is the one of this installation.
func (s *Store) Sealer() Sealer {
	k := SealerIn(s.keys())
	if s.db.Shared() {
		k.check = func(file string, key []byte) error { return s.checkKey(context.Background(), file, key) }
	}
	return k
}

// keys is the folder of the key files.
func (s *Store) keys() string {
	if s.opts.Keys != "" {
		return s.opts.Keys
	}
	return filepath.Dir(s.Path())
}

func (s *Store) seal(secret, about string) ([]byte, error) { return s.Sealer().Seal(secret, about) }

func (s *Store) unseal(ciphertext []byte, about string) (string, error) {
	return s.Sealer().Unseal(ciphertext, about)
}

// Seal encrypts a secret. about ties it to what it belongs to. The file is made when it is first
// needed.
func (k Sealer) Seal(secret, about string) ([]byte, error) {
	box, err := k.box(true)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return box.Seal(nonce, nonce, []byte(secret), []byte(about)), nil
}

// Unseal is the secret that was sealed about the same.
func (k Sealer) Unseal(ciphertext []byte, about string) (string, error) {
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

// NewSealingKey is what the file begins with.
func NewSealingKey() ([]byte, error) {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	return key, nil
}

func (k Sealer) box(create bool) (cipher.AEAD, error) {
	key, err := os.ReadFile(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create && k.check == nil:
		key, err = makeKeyFile(k.path, NewSealingKey)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no key file %s in the data folder", models.KeyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if k.check != nil {
		if err := k.check(models.KeyFile, key); err != nil {
			return nil, err
		}
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

// Key is what a key file of the installation holds. create makes the key when it is first needed. Where several servers
// share a database, the first one makes it, and another whose file is missing or differs is refused: it could not open
// what the others have sealed, and they not what it has. Options.AcceptKeys has this server's files be the right ones.
func (s *Store) Key(ctx context.Context, file string, create func() ([]byte, error)) ([]byte, error) {
	path := filepath.Join(s.keys(), file)
	key, err := os.ReadFile(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if s.db.Shared() && !s.opts.AcceptKeys {
			digest, err := s.keyDigest(ctx, s.db.Reads(), file)
			if err != nil {
				return nil, err
			}
			if digest != nil {
				return nil, otherKey(path)
			}
		}
		key, err = makeKeyFile(path, create)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if !s.db.Shared() {
		return key, nil
	}
	err = s.checkKey(ctx, file, key)
	if models.ErrorCode(err) == models.CodeNotFound || err != nil && s.opts.AcceptKeys {
		err = s.keepKey(ctx, file, key)
	}
	if err != nil && isNew { // another server was quicker: this key opens nothing
		err = errors.Join(err, os.Remove(path))
	}
	return key, err
}

// checkKey refuses a key that is not the installation's; CodeNotFound while it has none.
func (s *Store) checkKey(ctx context.Context, file string, key []byte) error {
	digest, err := s.keyDigest(ctx, s.db.Reads(), file)
	if err != nil {
		return err
	}
	if digest == nil {
		return models.Errorf(models.CodeNotFound, "The installation has no key yet: start a server, which makes it.")
	}
	if sum := sha256.Sum256(key); !bytes.Equal(sum[:], digest) {
		return otherKey(filepath.Join(s.keys(), file))
	}
	return nil
}

// keepKey makes a key the installation's, if that has none, or its own is not wanted any more.
func (s *Store) keepKey(ctx context.Context, file string, key []byte) error {
	sum := sha256.Sum256(key)
	return s.writeAnyway(ctx, func(t *Tx) error {
		digest, err := s.keyDigest(ctx, t, file)
		if err != nil {
			return err
		}
		if digest != nil && !bytes.Equal(digest, sum[:]) && !s.opts.AcceptKeys {
			return otherKey(filepath.Join(s.keys(), file))
		}
		if err := t.Gorm().Exec(`INSERT INTO key_checks (file, digest) VALUES (?, ?)`+db.OrReplace(`file`, `digest`),
			file, sum[:]).Error; err != nil {
			return fmt.Errorf("note the key: %w", err)
		}
		return nil
	})
}

func (s *Store) keyDigest(ctx context.Context, from db.RowQuerier, file string) (digest []byte, err error) {
	err = from.QueryRowContext(ctx, `SELECT digest FROM key_checks WHERE file = ?`, file).Scan(&digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read which key the installation has: %w", err)
	}
	return digest, nil
}

func otherKey(path string) error {
	return fmt.Errorf("%s is not the key of this installation: copy that file from the data folder of a server that has it, or name its folder with --keys. If it is lost, start one server once with --accept-keys: what was sealed with it has to be entered again",
		path)
}

// makeKeyFile makes the file, or reads the one that another process has just made.
func makeKeyFile(path string, create func() ([]byte, error)) ([]byte, error) {
	key, err := create()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // readable by its owner alone
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
