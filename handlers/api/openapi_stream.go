package api

import (
	"crypto/aes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/requests"
)

const streamDescription = `Server-sent events, from now on or from Last-Event-ID on: %s. Resuming sends each event once, with what the token may see now. ` +
	`Where another system asks with another input than its agent reported, input, tool_input and function_args are that input, which runs, reportedInput or reported_input is what the agent reported, and the digest is over that one. ` +
	`Ids say nothing but where to go on; 0 begins with the first. A comment comes every 15 seconds. The stream begins with retry: 1000, since it ends when the server stops: connect again after a second. After "event: reset" too much was missed: read the lists, and go on. ` +
	`A client that does not read is disconnected, as is one whose token is revoked.`

// registerStreams adds the streams to the router and to the document, which huma
// cannot make of them.
func (a *API) registerStreams() {
	for _, v := range vocabularies {
		a.echo.GET(v.path, a.stream(v))
		a.huma.OpenAPI().AddOperation(&huma.Operation{
			OperationID: v.operation, Method: http.MethodGet, Path: v.path, Tags: []string{"Streams"},
			Summary: v.summary, Description: fmt.Sprintf(streamDescription, strings.Join(v.names(), ", ")),
			Metadata: map[string]any{metadataWho: Anyone},
			Security: []map[string][]string{{"bearer": {}}},
			Parameters: []*huma.Param{{
				Name: headerLastEventID, In: "header", Description: "The id of the last event that was heard",
				Schema: &huma.Schema{Type: huma.TypeString},
			}},
			Responses: map[string]*huma.Response{"200": {
				Description: "The events, for as long as the reader stays",
				Content:     map[string]*huma.MediaType{"text/event-stream": {}},
			}},
		})
	}
}

// names are the events of a stream, in order.
func (v *vocabulary) names() []string {
	var out []string
	for _, words := range v.words {
		for _, w := range words {
			out = append(out, w.name)
		}
	}
	if v.changed != "" {
		out = append(out, v.changed)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// streamDocs are the operations of the streams.
func streamDocs() map[string]operationDoc {
	docs := make(map[string]operationDoc, len(vocabularies))
	for _, v := range vocabularies {
		docs[v.operation] = operationDoc{
			answers: map[int]any{200: v.example()}, problems: []models.Code{models.CodeTooManyRequests},
		}
	}
	return docs
}

// example is a short stream as it is sent.
func (v *vocabulary) example() string {
	asked := exampleFeedEvent(requests.Asked, 815, models.StatusPending)
	settled := exampleFeedEvent(requests.Settled, 816, models.StatusApproved)
	asked.Changes = []models.StatusChange{{
		Conversation: exampleConversation, Old: models.ConversationRunning, New: models.ConversationWaitingInput,
	}}
	settled.Changes = []models.StatusChange{{
		Conversation: exampleConversation, Old: models.ConversationWaitingInput, New: models.ConversationRunning,
	}}
	var out strings.Builder
	out.WriteString(handlers.StreamHead)
	named, err := newPlaces(make([]byte, aes.BlockSize)) // an example's key
	if err != nil {
		return ""
	}
	for _, h := range []*requests.FeedEvent{asked, settled} {
		told, err := v.events(h, named)
		if err != nil {
			continue // the test of the document says so
		}
		for _, e := range told {
			out.WriteString(e.String())
		}
	}
	return out.String()
}

func exampleFeedEvent(what requests.FeedKind, seq int64, status models.Status) *requests.FeedEvent {
	a := &models.Approval{Response: models.Response{
		ID: exampleID, ConversationID: exampleConversation, Kind: models.KindToolCall, CreatedAt: exampleTime,
		Digest: exampleDigest,
		Risk:   models.RiskHigh, RequiresApproval: true, ApprovalStatus: &status, ApprovalTimeoutAt: models.NoDeadline,
		ToolUseID: new("toolu_01"), ToolName: "deploy", ToolInputJSON: string(exampleInput),
		Explanation: models.Explanation{Description: "1.4 to production"},
	}, RunID: new("release-1.4")}
	if status == models.StatusApproved {
		a.Cause = models.CauseReviewer
	}
	return &requests.FeedEvent{Seq: seq, At: exampleTime, Kind: what, Conversation: exampleConversation, Approval: a}
}
