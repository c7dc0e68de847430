package terminal

import "strconv"

// FailureCode is the annotation that names a command's exit code for errors that
// bring none of their own; where it is missing that is 1.
const FailureCode = "failure-code"

// ExitError is an error that knows the exit code of the process.
type ExitError struct {
	Code int
	Err  error // nil: what there was to say has been said
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return "exit " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit is err with an exit code.
func Exit(code int, err error) error { return &ExitError{code, err} }

// ExitUsage is the exit code where no command was named, or one that does not exist: a script
// must not take help for success. It is EX_USAGE of sysexits.h.
const ExitUsage = 64
