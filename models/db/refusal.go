package db

import "errors"

// refusal is an error that the caller gets although the transaction is committed: a
// refused response may leave a request for more budget behind.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Commits makes err a refusal: the transaction is committed, and Write returns err.
func Commits(err error) error { return &refusal{err} }

// Refused splits the error of a function: callerErr goes to the caller although the
// transaction is committed, txErr rolls the transaction back. At most one is set.
func Refused(err error) (callerErr, txErr error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.err, nil
	}
	return nil, err
}
