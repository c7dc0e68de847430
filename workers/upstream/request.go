package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// reply is what the upstream answered.
type reply struct {
	status int
	body   []byte
	at     time.Time // by the upstream's own clock; zero if it did not say
}

// problem is why there is no answer, in words of our own: neither the key nor
// anything that the upstream wrote, nor its address, is in it.
type problem struct {
	text string // a clause about the upstream, without its end
	sent bool   // the request may have reached the other side
}

// forPeople is the problem as callers get it.
func (p *problem) forPeople() error {
	return &models.Error{Code: models.CodeUnavailable, Text: "The upstream " + p.text + "."}
}

// send asks once. If the body is not wanted, its beginning is read as far as it
// comes: a status alone tells what became of a verdict.
func (c *Client) send(ctx context.Context, method, path string, body []byte, want bool) (*reply, *problem) {
	var sent atomic.Bool
	limitCtx, cancel := context.WithTimeoutCause(ctx, c.timeout, errSlow)
	defer cancel()
	traceCtx := httptrace.WithClientTrace(limitCtx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
	req, err := http.NewRequestWithContext(traceCtx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &problem{text: "cannot be asked at this address"}
	}
	c.authorize(req)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &problem{text: c.why(limitCtx, err, "cannot be reached"), sent: sent.Load()}
	}
	defer res.Body.Close()
	r := &reply{status: res.StatusCode}
	r.at, _ = http.ParseTime(res.Header.Get("Date"))
	if !want {
		r.body, _ = io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // also so that the connection can be used again
		return r, nil
	}
	if r.body, err = io.ReadAll(io.LimitReader(res.Body, c.maxBody+1)); err != nil {
		return nil, &problem{text: c.why(limitCtx, err, "ended in the middle of its answer"), sent: true}
	}
	if int64(len(r.body)) > c.maxBody {
		return nil, &problem{text: fmt.Sprintf("answers more than %d bytes", c.maxBody), sent: true}
	}
	return r, nil
}

var errSlow = errors.New("the upstream is slow")

// why says what went wrong; otherwise is for an error that has no words of its own.
func (c *Client) why(ctx context.Context, err error, otherwise string) string {
	var number syscall.Errno
	var name *net.DNSError
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return "did not answer within " + models.SpokenDuration(c.timeout)
	case ctx.Err() != nil:
		return "was not waited for: this server is stopping"
	case errors.Is(err, outward.ErrLinkLocal), errors.Is(err, outward.ErrUniqueLocal), errors.Is(err, outward.ErrMetadata):
		return "has " + refusal(err) +
			", which is not allowed; if it is meant, start the server with --upstream-allow and its host"
	case errors.As(err, &name):
		return "cannot be reached: its host name is unknown"
	case errors.As(err, &number):
		return otherwise + ": " + number.Error()
	}
	return otherwise
}

// refusal is which kind of address was refused.
func refusal(err error) string {
	for _, kind := range []error{outward.ErrMetadata, outward.ErrUniqueLocal} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return outward.ErrLinkLocal.Error()
}

// get asks for something and takes only a good answer.
func (c *Client) get(ctx context.Context, path string) (*reply, error) {
	r, p := c.send(ctx, http.MethodGet, path, nil, true)
	if p != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, p.forPeople()
	}
	if r.status == http.StatusNotFound {
		return nil, models.Errorf(models.CodeNotFound, "The upstream does not know it, or has a different address (404).")
	}
	if r.status < 200 || r.status > 299 {
		err := (&problem{text: saysNo(r.status)}).forPeople()
		if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden {
			err = &keyError{status: r.status, error: err}
		}
		return nil, err
	}
	return r, nil
}

// keyError is that the upstream refuses the key.
type keyError struct {
	error

	status int
}

func (e *keyError) Unwrap() error { return e.error }

// RefusesKey is the status with which an upstream refused the key; 0: the error is
// another one.
func RefusesKey(err error) int {
	if e, ok := errors.AsType[*keyError](err); ok {
		return e.status
	}
	return 0
}

// saysNo is a bad status in words.
func saysNo(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("refuses the key (%d)", status)
	case status == http.StatusTooManyRequests:
		return fmt.Sprintf("has too many requests (%d)", status)
	case status >= 500:
		return fmt.Sprintf("failed (%d)", status)
	case status >= 400:
		return fmt.Sprintf("refuses the request (%d)", status)
	}
	return fmt.Sprintf("redirects to another address, which is not followed (%d)", status)
}

// segment is an id as one segment of a path. An id of dots alone would otherwise
// be taken for a step.
func segment(id string) string {
	switch id {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(id)
}
