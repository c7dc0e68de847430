package db

import "errors"

// refusal is an error that the caller is told although what was written stands:
// the request for more budget that a refused response leaves behind.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Commits makes err a refusal: the transaction is committed, and then the caller
// of Write is told err.
func Commits(err error) error { return &refusal{err} }

// Refused takes the refusal out of what a function returned: what the caller is told,
// and what spoils the transaction.
func Refused(err error) (told, spoils error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.err, nil
	}
	return nil, err
}
