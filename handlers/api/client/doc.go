// Package client asks a Countersign server for approval, and waits until a person
// has decided.
//
// An agent asks with its own token and does what it wanted only if it may:
//
//	c := client.New("https://countersign.example.com", token)
//	got, err := c.AskUntilDecided(ctx, wire.AskRequest{
//		ToolName: "deploy", Input: []byte(`{"version":"1.4"}`), AcceptsEdits: true,
//	}, client.Patience{Connect: time.Minute})
//	if err != nil {
//		return err // nobody decided: do not deploy
//	}
//	if !got.Decision.Approved {
//		return errors.New(got.Decision.Reason)
//	}
//	deploy(got.Decision.Input) // which a reviewer may have edited
//
// AskUntilDecided lasts through restarts of the server and repeats safely: it gives
// a request without an id of its own one. Set AskRequest.ToolUseID or ApprovalID
// yourself if your program may start again and must find the same request again.
//
// Ask, Get and Cancel are the single steps. With a reviewer's token, Respond
// decides, Note asks back and Undo takes an approval back. OpenConversation and
// Report tell what happens in a run; Say, Send and Conversation are for talking.
//
// An error is an *AnswerError if the server refused, with a code from package wire
// such as wire.CodeKeyConflict; an *UnreachableError if none answered; or the
// context's. AskUntilDecided has a few more: ErrNeverAnswered, ErrDeadlinePassed
// and *BudgetError. Retryable reports whether the same may be sent again.
//
// What is sent and answered is in package wire.
package client
