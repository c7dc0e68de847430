package handlers

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// Connections keeps room for those who send whole requests. A connection over which no request has arrived in full is
// dropped, the oldest first, when there would be more than most. A request that is answered before its body was read
// ends its connection, without waiting for the rest of the body.
type Connections struct {
	most int

	mu       sync.Mutex
	open     int
	receives list.List // of net.Conn: no whole request has arrived, oldest first
	places   map[net.Conn]*list.Element
}

// NewConnections allows most connections at a time.
func NewConnections(most int) *Connections {
	return &Connections{most: most, places: make(map[net.Conn]*list.Element)}
}

// State is for http.Server.ConnState.
func (l *Connections) State(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if oldest := l.enter(conn); oldest != nil {
			_ = oldest.Close()
		}
	case http.StateIdle:
		l.receiving(conn)
	case http.StateClosed, http.StateHijacked:
		l.leave(conn)
	case http.StateActive: // its request may be a long time coming
	}
}

func (l *Connections) enter(conn net.Conn) (tooMany net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	l.places[conn] = l.receives.PushBack(conn)
	if l.open <= l.most {
		return nil
	}
	tooMany, _ = l.receives.Remove(l.receives.Front()).(net.Conn)
	delete(l.places, tooMany)
	return tooMany
}

func (l *Connections) receiving(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[conn] == nil {
		l.places[conn] = l.receives.PushBack(conn)
	}
}

func (l *Connections) received(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if place := l.places[conn]; place != nil {
		l.receives.Remove(place)
		delete(l.places, conn)
	}
}

func (l *Connections) leave(conn net.Conn) {
	l.received(conn)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

type connKey struct{}

// Context is for http.Server.ConnContext.
func (l *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// closing is the header by which an answer ends its connection.
var closeHeader = []string{"close"}

// Handler is what every request goes through.
func (l *Connections) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connKey{}).(net.Conn)
		if r.ContentLength == 0 {
			l.received(conn)
			next.ServeHTTP(w, r)
			return
		}
		// The answer may be sent before or after the body was read, or without.
		w.Header()["Connection"] = closeHeader
		body := &trackedBody{ReadCloser: r.Body, whole: func() {
			delete(w.Header(), "Connection")
			l.received(conn)
		}}
		r.Body = body
		next.ServeHTTP(w, r)
		if !body.isOver {
			// The rest of the body may still arrive: a reset would take the answer away.
			_ = http.NewResponseController(w).SetReadDeadline(after(unreadTimeout))
		}
	})
}

// trackedBody is a body that reports when all of it has arrived.
type trackedBody struct {
	io.ReadCloser

	whole  func()
	isOver bool
}

func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && !b.isOver {
		b.isOver = true
		b.whole()
	}
	return n, err
}
