package client_test

import (
	"context"
	"fmt"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
)

// An agent asks whether it may deploy, and waits. Ada sees the request and approves
// it; in real life she does so on the server's page.
func ExampleClient_AskUntilDecided() {
	server := startServer()
	defer server.stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	ada := client.New(server.url, server.reviewerToken)
	agent := client.New(server.url, server.agentToken)
	got, err := agent.AskUntilDecided(ctx, wire.AskRequest{
		ToolName: "deploy", Input: []byte(`{"version":"1.4"}`), Explanation: wire.Explanation{Description: "1.4 to production"},
	}, client.WaitOptions{
		Connect: 10 * time.Second,
		OnAnswer: func(asked *wire.Approval) {
			fmt.Printf("%s: %s\n", asked.Description, asked.Status)
			approved := true
			if _, err := ada.Respond(ctx, asked.ApprovalID, wire.RespondRequest{Approved: &approved, Reason: "go", Digest: asked.Digest}); err != nil {
				fmt.Println(err)
			}
		},
	})
	if err != nil {
		fmt.Println("nobody decided:", err)
		return
	}
	if !got.Decision.Approved {
		fmt.Println("not allowed:", got.Decision.Reason)
		return
	}
	fmt.Printf("%s by %s: %s\n", got.Status, got.Decision.By.Name, got.Decision.Reason)
	fmt.Printf("deploy with %s\n", got.Decision.Input)
	// Output:
	// 1.4 to production: pending
	// approved by Ada Lovelace: go
	// deploy with {"version":"1.4"}
}
