package nav

import (
	"net/http"
)

// Failure is the view model of a page that could not be shown.
type Failure struct {
	Status    int
	Title     string
	Text      string
	Do        string // what to do now
	RequestID string
	SignIn    bool // offer the sign-in form
}

// NewFailure explains a status; text is shown if it is not empty, and never holds values of the request.
func NewFailure(status int, text, requestID string) Failure {
	v := Failure{Status: status, Text: text, RequestID: requestID}
	switch status {
	case http.StatusNotFound:
		v.Title = "Page not found"
		v.Do = "This page doesn't exist or you don't have access. Your pending requests are in the inbox."
	case http.StatusForbidden:
		v.Title = "You don't have permission"
		v.Do = "Ask an admin, or sign in with another account."
	case http.StatusUnauthorized:
		v.Title = "Sign in first"
		v.SignIn = true
	case http.StatusConflict:
		v.Title = "Something changed"
		v.Do = "Go back, reload the page and check it again."
	case http.StatusTooManyRequests:
		v.Title = "Too many requests"
		v.Do = "Wait a moment, then try again."
	case http.StatusServiceUnavailable:
		v.Title = "Temporarily unavailable"
		v.Do = "The server is starting or stopping. Nothing is lost; try again in a moment."
	case http.StatusInsufficientStorage:
		v.Title = "Disk full"
		v.Do = "Nothing is lost. Ask an admin to free space on the server's disk, then try again. You can still reject requests."
	default:
		if status < http.StatusInternalServerError {
			v.Title = "That did not work"
			v.Do = "Go back, correct it, and send it again."
		} else {
			v.Title = "Something went wrong"
			v.Do = "Check whether your change was saved before you try again. If this keeps happening, give an admin the number below."
		}
	}
	return v
}
