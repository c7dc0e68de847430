// Package client asks a Countersign server for approval, and waits until a person decides.
//
// An agent asks with its own token and acts only if it may:
//
//	c := client.New("https://countersign.example.com", token)
//	got, err := c.AskUntilDecided(ctx, wire.AskRequest{
//		ToolName: "deploy", Input: []byte(`{"version":"1.4"}`), AcceptsEdits: true,
//	}, client.Patience{Connect: time.Minute})
//	if err != nil {
//		return err // no decision: do not deploy
//	}
//	if !got.Decision.Approved {
//		return errors.New(got.Decision.Reason)
//	}
//	deploy(got.Decision.Input) // a reviewer may have edited it
//
// AskUntilDecided survives restarts of the server and repeats safely: it gives a request without an id its own. Set
// AskRequest.ToolUseID or ApprovalID yourself if your program may restart and must find the same request again.
//
// Ask, Get and Cancel are the single steps. With a reviewer's token, Respond decides, Note asks a question and Undo
// undoes an approval. OpenConversation and Report say what happens in a run; Say, Send and Conversation exchange
// messages.
//
// An error is an *AnswerError if the server refuses, with a code from package wire such as wire.CodeKeyConflict; an
// *UnreachableError if no server answers; or the context's. AskUntilDecided has a few more: ErrNeverAnswered,
// ErrDeadline and *BudgetError. Retryable reports whether the same request may be sent again.
//
// Package wire has the types of bodies and answers.
package client
