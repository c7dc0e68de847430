package dbtest

import (
	"errors"
	"syscall"

	"gorm.io/gorm"

	"countersign/models/db"
)

// DieBefore has this process end with kill -9 before the n-th statement from now, counted from 0, of transactions of t's
// database that write.
func DieBefore(t *db.Tx, n int) error {
	die := func(*gorm.DB) {
		if n--; n < 0 {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	calls := t.Gorm().Callback()
	return errors.Join(calls.Raw().Before("gorm:raw").Register("die", die), calls.Create().Before("gorm:create").Register("die", die),
		calls.Row().Before("gorm:row").Register("die", die))
}
