package store

import "errors"

// refusal is an error that the caller is told although what was written stands:
// the request for more budget that a refused response leaves behind.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// commits makes err a refusal: the transaction is committed, and then the caller
// of write is told err.
func commits(err error) error { return &refusal{err} }

// refused takes the refusal out of what a function returned.
func refused(err error) (told, spoils error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.err, nil
	}
	return nil, err
}
