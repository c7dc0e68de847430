package models

import "time"

// Policy is one version of the policy document, as it is kept.
type Policy struct {
	Version    int64 `gorm:"primaryKey"`
	Document   string
	AuthorID   string
	AuthorName string
	Note       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
}
