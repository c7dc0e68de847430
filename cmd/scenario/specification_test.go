package scenario_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/models/storetest"
)

// script is a program that was written from the words of the specification alone: it
// sends the members, paths and words that stand there and reads what stands there.
// The upstream's part of it is in a file of its own.
type script struct {
	*process.World

	t *testing.T
}

func newScript(t *testing.T, change ...func(*config.Config)) *script {
	t.Helper()
	w := &process.World{Server: process.Serve(t, storetest.Dir(t), "", change...)}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Agent = storetest.AgentToken(t, w.Store(), w.Admin, "bot")
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	return &script{World: w, t: t}
}

// object is a JSON object as it came.
type object map[string]any

// send sends a body, none if it is empty, and reads the answer.
func (s *script) send(token, method, path, body string) (int, object) {
	s.t.Helper()
	status, answer, err := s.try(token, method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, answer
}

func (s *script) try(token, method, path, body string) (int, object, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	var answer object
	return res.StatusCode, answer, errorsIn(json.Unmarshal(raw, &answer), &answer, raw)
}

// errorsIn keeps what no answer is from being read as an empty one.
func errorsIn(err error, answer *object, raw []byte) error {
	if err != nil && len(raw) > 0 {
		return err
	}
	if *answer == nil {
		*answer = object{}
	}
	return nil
}

// has fails unless the object has the members.
func (s *script) has(o object, members object) {
	s.t.Helper()
	for name, want := range members {
		if got, there := o[name]; !there || got != want {
			s.t.Errorf("%s = %#v (there: %t), want %#v in %v", name, got, there, want, o)
		}
	}
}

// at is an object inside another one.
func (s *script) at(o object, name string) object {
	s.t.Helper()
	inner, ok := o[name].(map[string]any)
	if !ok {
		s.t.Fatalf("there is no object %s in %v", name, o)
	}
	return inner
}

// only is the one object in a list.
func (s *script) only(o object, name string) object {
	s.t.Helper()
	list, _ := o[name].([]any)
	if len(list) != 1 {
		s.t.Fatalf("%d in %s of %v, want one", len(list), name, o)
	}
	return list[0].(map[string]any)
}

// text is a member that is a string and not empty.
func (s *script) text(o object, name string) string {
	s.t.Helper()
	got, _ := o[name].(string)
	if got == "" {
		s.t.Fatalf("there is no %s in %v", name, o)
	}
	return got
}

// streamed is one event of a stream.
type streamed struct {
	name string
	data object
}

// listen reads the events of a stream until the test ends.
func (s *script) listen(token, path string) <-chan streamed {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Addr+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // closed where it is read
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %v %v", path, res, err)
	}
	events, ended := make(chan streamed, 100), make(chan struct{})
	go func() {
		defer close(ended)
		defer res.Body.Close()
		var e streamed
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "event":
				e.name = value
			case "data":
				_ = json.Unmarshal([]byte(value), &e.data)
			case "":
				if e.data != nil {
					events <- e
				}
				e = streamed{}
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-ended })
	return events
}

// hears waits for the next event with a name.
func (s *script) hears(events <-chan streamed, name string) object {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), process.Patience)
	defer cancel()
	for {
		select {
		case e := <-events:
			if e.name == name {
				return e.data
			}
		case <-ctx.Done():
			s.t.Fatalf("no %s was told", name)
		}
	}
}

var uuids atomic.Int64

// newUUID is one as randomUUID makes it, of version 4.
func newUUID() string { return fmt.Sprintf("3b241101-e2bb-4255-8caf-%012d", uuids.Add(1)) }
