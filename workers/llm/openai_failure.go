package llm

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"countersign/models"
)

// failure is why a try came to nothing.
type failure struct {
	text      string // for people: a sentence without its full stop, in our words
	transient bool   // another try may succeed
	after     time.Duration
	status    int    // of the endpoint; 0: it was not reached, or answered well at first
	parameter string // that the endpoint refused, if it said so
	detail    string // for the log
}

func (f *failure) Error() string { return f.text }

// forPeople is the failure as the caller gets it.
func (f *failure) forPeople(tries int) error {
	text := f.text
	switch {
	case f.after > longestPause:
		text += fmt.Sprintf(" and asks to come back in %s", f.after)
	case tries > 1:
		text += fmt.Sprintf("; gave up after %d tries", tries)
	}
	return &models.Error{Code: models.CodeUnavailable, Text: text + "."}
}

// failureOf says what an error means. An error that is not a failure of ours comes from the connection.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	f := &failure{text: "The model's endpoint cannot be reached", transient: true}
	// The address may hold a password: only the cause below it is shown.
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	f.detail = err.Error()
	return f
}

func brokenOff(err error) *failure {
	return &failure{text: "The model's answer was cut off", transient: true, detail: err.Error()}
}

// hide takes the key out of a text for the log.
func hide(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "…")
}

// refusal is what a refusal means. What the endpoint wrote decides, but is not told.
func refusal(res *http.Response, body []byte) *failure {
	var said struct {
		Error struct {
			Code  any `json:"code"`
			Param any `json:"param"`
		} `json:"error"`
	}
	_ = readLoosely(body, &said) // what cannot be read says nothing
	code, _ := said.Error.Code.(string)
	f := &failure{status: res.StatusCode}
	switch status := res.StatusCode; {
	case status == http.StatusTooManyRequests && code == "insufficient_quota":
		f.text, f.transient = "The model's endpoint says that its quota is used up", true
	case status == http.StatusTooManyRequests:
		f.text, f.transient = "The model's endpoint has too many requests", true
	case status >= 500:
		f.text, f.transient = "The model's endpoint failed", true
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		f.text = "The model's endpoint refuses the key"
	case code == "context_length_exceeded", status == http.StatusRequestEntityTooLarge:
		f.text = "The conversation has become too long for the model"
	case status == http.StatusNotFound:
		f.text = "The model's endpoint does not know the model, or has a different address"
	case status >= 400:
		f.text = "The model's endpoint refuses the request"
	default:
		f.text = "The model's endpoint answers in an unknown format"
	}
	f.text += fmt.Sprintf(" (%d)", res.StatusCode)
	if f.transient {
		f.after = retryAfter(res.Header)
	}
	if status := res.StatusCode; status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		f.parameter, _ = said.Error.Param.(string)
	}
	return f
}

// retryAfter is how long an endpoint asks to wait: seconds, or a date, which is
// taken from the endpoint's own clock.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if seconds >= 0 { // false for NaN
			return time.Duration(min(seconds, 1e6) * float64(time.Second))
		}
		return 0
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, until.Sub(at))
}
