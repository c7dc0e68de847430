package drafts

import (
	"countersign/models/db"
	"countersign/models/store"
)

// Drafts are what admins write before it becomes the policy. All methods are safe for
// concurrent use.
type Drafts struct {
	store *store.Store
	db    *db.DB
}

// New is the drafts of an open store.
func New(s *store.Store) *Drafts { return &Drafts{store: s, db: s.DB()} }
