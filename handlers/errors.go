package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
)

// Codes that only HTTP knows; clients see them beside those of models.
const (
	CodeUnknownHost      models.Code = "unknown_host"          // 421: not this server's name
	CodeMethodNotAllowed models.Code = "method_not_allowed"    // 405: Allow says which are
	CodeClientGone       models.Code = "client_closed_request" // 499: for the log; it has no reader
)

// StatusClientGone is logged when the caller left before the answer.
const StatusClientGone = 499

// problemKind is how one code looks on every HTTP surface.
type problemKind struct {
	status int
	title  string
}

// problemKinds is the one table from codes to HTTP.
var problemKinds = map[models.Code]problemKind{
	models.CodeInvalid:           {http.StatusUnprocessableEntity, "The request is not valid"},
	models.CodeDigestRequired:    {http.StatusUnprocessableEntity, "The digest is required"},
	models.CodeWrongDecisionKind: {http.StatusUnprocessableEntity, "Wrong kind of decision"},
	models.CodeTakesNoEdits:      {http.StatusUnprocessableEntity, "The input can't be edited"},
	models.CodeCommentRequired:   {http.StatusUnprocessableEntity, "A comment is required"},
	models.CodeResponseRequired:  {http.StatusUnprocessableEntity, "An answer is required"},
	models.CodeNoBudget:          {http.StatusUnprocessableEntity, "No budget"},
	models.CodeUnauthenticated:   {http.StatusUnauthorized, "Not signed in"},
	models.CodeForbidden:         {http.StatusForbidden, "Not allowed"},
	models.CodeNotAReviewer:      {http.StatusForbidden, "Others must approve"},
	models.CodeNotFound:          {http.StatusNotFound, "Not found"},
	models.CodeAlreadyDecided:    {http.StatusConflict, "Already decided"},
	models.CodeExpired:           {http.StatusConflict, "Past its deadline"},
	models.CodeBeingDecided:      {http.StatusConflict, "Being decided"},
	models.CodeDigestMismatch:    {http.StatusConflict, "Not the request that was shown"},
	models.CodeKeyConflict:       {http.StatusConflict, "Same key, another request"},
	models.CodeIDTaken:           {http.StatusConflict, "The id is taken"},
	models.CodeOtherAgent:        {http.StatusConflict, "Another agent's run"},
	models.CodeAmbiguousSession:  {http.StatusConflict, "More than one session"},
	models.CodeConflict:          {http.StatusConflict, "Conflict"},
	models.CodeSeveralWaiting:    {http.StatusConflict, "Several wait"},
	models.CodeNoPendingApproval: {http.StatusConflict, "Nothing waits for approval"},

	models.CodePreconditionFailed:   {http.StatusPreconditionFailed, "Another version is active"},
	models.CodePreconditionRequired: {http.StatusPreconditionRequired, "If-Match is required"},

	models.CodeBudgetExhausted: {http.StatusPaymentRequired, "The budget is exhausted"},
	models.CodeTooManyRequests: {http.StatusTooManyRequests, "Too many requests"},
	models.CodeTooManyPending:  {http.StatusTooManyRequests, "Too many pending requests"},
	models.CodeTooLarge:        {http.StatusRequestEntityTooLarge, "Too large"},
	models.CodeDiskFull:        {http.StatusInsufficientStorage, "Disk full"},
	models.CodeUnavailable:     {http.StatusServiceUnavailable, "Not available"},
	models.CodeInternal:        {http.StatusInternalServerError, "Internal error"},
	CodeUnknownHost:            {http.StatusMisdirectedRequest, "Unknown host"},
	CodeMethodNotAllowed:       {http.StatusMethodNotAllowed, "Method not allowed"},
	CodeClientGone:             {StatusClientGone, "Client closed request"},
}

// Status is the HTTP status of a code; 500 for one that is not in the table.
func Status(code models.Code) int { return kindOf(code).status }

func kindOf(code models.Code) problemKind {
	if k, ok := problemKinds[code]; ok {
		return k
	}
	return problemKinds[models.CodeInternal]
}

// FieldProblem names one input and the expected value.
type FieldProblem struct {
	Field   string `json:"field" doc:"The member or parameter, as in options[0].name"`
	Message string `json:"message" doc:"What is wanted of it"`
}

// Problem is the error answer of every JSON surface: an RFC 9457 problem document with a stable code. It never holds
// values of the request.
type Problem struct { //nolint:errname // RFC 9457 calls it a problem
	Type      string         `json:"type" doc:"urn:countersign:problem: and the code"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail" doc:"What was wanted, for people"`
	Message   string         `json:"error" doc:"As detail, under the name that other clients read"`
	Code      models.Code    `json:"code" doc:"Stable name of the kind of problem"`
	Errors    []FieldProblem `json:"errors,omitempty" doc:"The fields that are wrong"`
	RequestID string         `json:"requestId,omitempty" doc:"Set with internal errors: what to look for in the server's log"`
	Approval  any            `json:"approval,omitempty" doc:"With 409: the current request; with 402: the budget request"`

	// ApprovalID is what to wait for before the same is sent again.
	ApprovalID models.ResponseID `json:"approvalId,omitempty" doc:"With 402: the budget request to wait for; once it is approved, send the same again"`

	// Waiting are the requests of which one is to be named.
	Waiting []NamedRequest `json:"waiting,omitempty" doc:"With 409 several_waiting: the requests that wait, latest first; name one"`

	retryAfter int
}

// NamedRequest names a request of a conversation that waits for a person.
type NamedRequest struct {
	ResponseID models.ResponseID `json:"responseId"`
	Kind       models.Kind       `json:"kind"`
}

// ProblemOf makes the answer of an error. An error that is not a *models.Error tells nothing but that it happened; the
// caller logs it.
func ProblemOf(err error) *Problem {
	var e *models.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled):
		e = models.Errorf(CodeClientGone, "The caller went away.")
	case errors.Is(err, context.DeadlineExceeded):
		e = models.Errorf(models.CodeUnavailable, "The server could not answer in time; try again.")
	default:
		e = models.Errorf(models.CodeInternal, "Something went wrong here; the server's log says what.")
	}
	kind := kindOf(e.Code)
	p := &Problem{
		Type: "urn:countersign:problem:" + string(e.Code), Title: kind.title, Status: kind.status,
		Detail: e.Error(), Message: e.Error(), Code: e.Code, retryAfter: e.RetryAfterSeconds,
	}
	if e.Code == models.CodeBudgetExhausted && e.Approval != nil {
		p.ApprovalID = e.Approval.ID
	}
	for _, w := range e.Waiting {
		p.Waiting = append(p.Waiting, NamedRequest{w.ID, w.Kind})
	}
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		p.Errors = append(p.Errors, FieldProblem{Field: field, Message: e.Fields[field]})
	}
	return p
}

// InWords puts an error's fields into the names that a surface has for them.
func InWords(names map[string]string, err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok || len(e.Fields) == 0 || names == nil {
		return err
	}
	clone := *e
	clone.Fields = make(map[string]string, len(e.Fields))
	for path, text := range e.Fields {
		root, rest := path, ""
		if end := strings.IndexAny(path, ".["); end >= 0 {
			root, rest = path[:end], path[end:]
		}
		if name, ok := names[root]; ok {
			root = name
		}
		clone.Fields[root+rest] = text
	}
	return &clone
}

// Error is the text.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is always that of problem documents.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders are the headers that belong to the status: when to come back, and
// how to sign in.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		h.Set("Retry-After", strconv.Itoa(max(1, p.retryAfter)))
	case http.StatusUnauthorized:
		h.Set("Www-Authenticate", `Bearer realm="countersign"`)
	}
	return h
}

// WriteProblem sends p. Nothing may have been written before.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	maps.Copy(h, p.GetHeaders())
	h.Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
