package models

import "time"

// SignInFailure is one row of signin_failures.
type SignInFailure struct {
	ID      int64 `gorm:"primaryKey"`
	Account string
	Address string
	At      time.Time
}

// TableName is the table of failed sign-ins.
func (SignInFailure) TableName() string { return "signin_failures" }

// SetupLink is one row of setup_links.
type SetupLink struct {
	SecretHash []byte    `gorm:"primaryKey"`
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	UsedAt     *time.Time
}

// KnownDevice is one row of known_devices.
type KnownDevice struct {
	SecretHash []byte `gorm:"primaryKey"`
	UserID     UserID
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	UsedAt     time.Time
}
