package upstreamtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// list is what waits, as JSON.
func (s *Server) list(req Request, fault Fault) []byte {
	kind := KindCall
	if req.Act == ListContacts {
		kind = KindContact
	}
	var waiting []string
	for _, a := range s.asked {
		if a.kind == kind && a.settled == nil && !a.removed {
			waiting = append(waiting, string(s.item(a)))
		}
	}
	total := len(waiting)
	from := min(req.Offset+fault.Skip, total)
	to := total
	limit := s.o.PageSize
	if s.o.Cloud {
		if req.Limit > 0 {
			limit = min(limit, req.Limit)
		}
		to = min(from+limit, total)
	}
	page := waiting[from:to]
	if len(page) > 0 {
		switch first := page[0]; {
		case fault.Duplicate:
			page = append([]string{first}, page...)
		case fault.Contradict:
			other := strings.NewReplacer(`"kwargs":{`, `"kwargs":{"another":1,`, `"msg":"`, `"msg":"another: `, `,}`,
				`}`).Replace(first)
			page = append([]string{first}, append(page[1:], other)...)
		}
	}
	items := "[" + strings.Join(page, ",") + "]"
	if !s.o.Cloud {
		return []byte(items)
	}
	more := to < total && !fault.NoMore || fault.More
	return fmt.Appendf(nil, `{"items":%s,"total":%d,"limit":%d,"offset":%d,"has_more":%t}`, items, total, limit,
		req.Offset, more)
}

// read is one call or contact, settled or not.
func (s *Server) read(req Request) (status int, body []byte) {
	a := s.byID[req.CallID]
	if a == nil || a.removed || (a.kind == KindCall) != (req.Act == ReadCall) {
		return http.StatusNotFound, []byte(`{"error":{"message":"not found"}}`)
	}
	return http.StatusOK, s.item(a)
}

// item is one call or contact as JSON, with its status.
func (s *Server) item(a *asked) []byte {
	var spec, id, run, extra string
	if a.kind == KindCall {
		c := a.call
		kwargs := c.Kwargs
		if kwargs == "" {
			kwargs = "{}"
		}
		id, run, extra = c.CallID, c.RunID, c.Extra
		spec = `"fn":` + quoted(c.Fn) + `,"kwargs":` + kwargs
		if c.ToolUseID != "" {
			extra = strings.TrimPrefix(extra+`,"tool_use_id":`+quoted(c.ToolUseID), ",")
		}
	} else {
		c := a.contact
		id, run, extra = c.CallID, c.RunID, c.Extra
		spec = `"msg":` + quoted(c.Msg)
		if c.Subject != "" {
			spec += `,"subject":` + quoted(c.Subject)
		}
		if len(c.Options) > 0 {
			options := make([]string, len(c.Options))
			for i, name := range c.Options {
				options[i] = `{"name":` + quoted(name) + `}`
			}
			spec += `,"response_options":[` + strings.Join(options, ",") + `]`
		}
	}
	runID := "null"
	if run != "" {
		runID = quoted(run)
	}
	if extra != "" {
		extra = "," + extra
	}
	return []byte(`{"call_id":` + quoted(id) + `,"run_id":` + runID + `,"spec":{` + spec + `},"status":{` + s.status(a) +
		`}` + extra + `}`)
}

func (s *Server) status(a *asked) string {
	out := `"requested_at":` + quoted(s.o.Stamp(a.at.Add(s.o.Skew)))
	v := a.settled
	switch {
	case v == nil && a.kind == KindCall:
		return out + `,"approved":null`
	case v == nil:
		return out
	case a.kind == KindCall:
		out += fmt.Sprintf(`,"approved":%t,"comment":%s`, v.Approved, quoted(v.Reason))
	default:
		out += `,"response":` + quoted(v.Response)
		if v.Option != "" {
			out += `,"response_option_name":` + quoted(v.Option)
		}
	}
	return out + `,"responded_at":` + quoted(s.o.Stamp(s.o.Now().Add(s.o.Skew)))
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err) // a test's own text is UTF-8
	}
	return string(b)
}
