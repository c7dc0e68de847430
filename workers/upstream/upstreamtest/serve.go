package upstreamtest

import (
	"io"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
)

// prefix is where the cloud dialect is served, as its original does.
const prefix = "/humanlayer/v1"

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, act Act) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, act) })
	}
	if s.o.Cloud {
		on("GET "+prefix+"/agent/function_calls/pending", ListCalls)
		on("GET "+prefix+"/agent/human_contacts/pending", ListContacts)
		on("POST "+prefix+"/agent/function_calls/{id}/respond", RespondCall)
		on("POST "+prefix+"/agent/human_contacts/{id}/respond", RespondContact)
		on("GET "+prefix+"/function_calls/{id}", ReadCall)
		on("GET "+prefix+"/contact_requests/{id}", ReadContact)
		return mux
	}
	on("GET /function_calls", ListCalls)
	on("GET /human_contacts", ListContacts)
	on("POST /function_calls/{id}/respond", RespondCall)
	on("POST /human_contacts/{id}/respond", RespondContact)
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, act Act) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if s.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.o.Key {
		answer(w, http.StatusUnauthorized, []byte(`{"error":{"message":"the key is wrong"}}`), false)
		return
	}
	if !s.o.Cloud && act.Lists() && r.URL.Query().Get("status") != "pending" {
		s.t.Errorf("a list of what is not pending is asked for: %s", r.URL)
	}
	req := Request{Act: act, CallID: r.PathValue("id")}
	if act.Lists() && s.o.Cloud {
		req.Offset, _ = strconv.Atoi(r.URL.Query().Get("offset"))
		req.Limit, _ = strconv.Atoi(r.URL.Query().Get("limit"))
	}
	s.mu.Lock()
	same := Request{Act: act, CallID: req.CallID, Offset: req.Offset}
	req.Nth = s.came[same]
	s.came[same]++
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	fault := s.o.Plan(req)

	s.mu.Lock()
	var status int
	var body []byte
	switch {
	case act.Lists():
		status, body = http.StatusOK, s.list(req, fault)
	case act.Responds():
		status, body = s.take(req, raw, fault)
	default:
		status, body = s.read(req)
	}
	s.mu.Unlock()
	if fault.Then != nil {
		fault.Then(s)
	}
	w.Header().Set("Date", s.o.Now().Add(s.o.Skew).UTC().Format(http.TimeFormat))
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.write(w, r, status, body, fault)
}

// write answers, or not, as the fault says.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, body []byte, fault Fault) {
	switch {
	case fault.Hang:
		select {
		case <-r.Context().Done():
		case <-s.end:
		}
		panic(http.ErrAbortHandler)
	case fault.Drop:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		answer(w, fault.Status, []byte(`{"error":{"message":"as planned"}}`), false)
	case fault.HTML:
		answer(w, status, []byte("<!doctype html><title>Be right back</title>"), false)
	case fault.Half:
		answer(w, status, body[:len(body)/2], false)
	default:
		answer(w, status, body, fault.Cut)
	}
}

func answer(w http.ResponseWriter, status int, body []byte, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if status >= 300 && status <= 399 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
	if cut {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body) // the client went away
}

// take reads a verdict strictly: what a dialect does not know is a mistake of the
// client and fails the test.
func (s *Server) take(req Request, raw []byte, fault Fault) (int, []byte) {
	v := &Verdict{Kind: KindCall, CallID: req.CallID, Raw: string(raw)}
	if req.Act == RespondContact {
		v.Kind = KindContact
	}
	handled := fault.effect()
	if problem := v.parse(raw, s.o.Cloud); problem != "" {
		s.t.Errorf("a verdict is not understood: %s: %s", problem, raw)
		handled, v.Status = false, http.StatusUnprocessableEntity
	}
	status := s.record(v, handled).Status
	if fault.Status != 0 {
		v.Status = fault.Status
	} else if fault.Hang || fault.Drop {
		v.Status = 0
	}
	switch status {
	case http.StatusOK:
		return status, s.item(s.byID[req.CallID])
	case http.StatusConflict:
		return status, []byte(`{"error":{"message":"already responded","code":"conflict"}}`)
	case http.StatusNotFound:
		return status, []byte(`{"error":{"message":"not found"}}`)
	}
	return http.StatusUnprocessableEntity, []byte(`{"error":{"message":"not understood"}}`)
}

// parse fills in what was said and returns what is wrong with it.
func (v *Verdict) parse(raw []byte, cloud bool) string {
	var said struct {
		Approved *bool   `json:"approved"`
		Comment  *string `json:"comment"`
		Option   *string `json:"response_option_name"`
		Decision *string `json:"decision"`
		Reason   *string `json:"reason"`
		Response *string `json:"response"`
	}
	if err := json.Unmarshal(raw, &said, json.RejectUnknownMembers(true)); err != nil {
		return err.Error()
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch {
	case v.Kind == KindContact:
		v.Response, v.Option = text(said.Response), text(said.Option)
		if v.Response == "" {
			return "no answer"
		}
		if !cloud && said.Option != nil {
			return "the plain dialect knows no options"
		}
	case cloud:
		if said.Approved == nil {
			return "no verdict"
		}
		v.Approved, v.Reason = *said.Approved, text(said.Comment)
		if !v.Approved && v.Reason == "" {
			return "a denial without a comment"
		}
	default:
		if d := text(said.Decision); d != "approve" && d != "deny" {
			return "no decision"
		}
		v.Approved, v.Reason = text(said.Decision) == "approve", text(said.Reason)
	}
	return ""
}
