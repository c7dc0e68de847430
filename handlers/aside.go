package handlers

// Aside runs fn: on a goroutine of its own once many wait, so that the caller, who sleeps
// afterwards, does not keep the stack that fn needs. Until then stacks keep what they have grown,
// for growing one again is felt. A panic of fn is passed on.
func Aside(queue, many int, fn func()) {
	if queue < many {
		fn()
		return
	}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		fn()
	}()
	if cause := <-done; cause != nil {
		panic(cause)
	}
}
