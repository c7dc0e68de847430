package agent

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"countersign/cmd/remote"
)

// MCP is the command that passes a client's messages on to the server, and asks again.
func MCP() *cobra.Command {
	var server string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Connect an MCP client that starts programs, through restarts of the server",
		Long: "Pass messages of the Model Context Protocol between standard input and output and\n" +
			"the server. While the server can't be reached, calls wait; what was cut off is asked\n" +
			"again and meets its own request. So a permission prompt survives a restart, with any\n" +
			"client:\n\n" +
			"    {\"mcpServers\": {\"countersign\": {\"command\": \"countersign\", \"args\": [\"mcp\"],\n" +
			"      \"env\": {\"COUNTERSIGN_SERVER\": \"http://127.0.0.1:8080\", \"COUNTERSIGN_TOKEN\": \"…\"}}}}\n\n" +
			"COUNTERSIGN_SERVER is the server's address and COUNTERSIGN_TOKEN an agent's token.\n" +
			"Problems are printed to standard error. Nothing is allowed while no server answers.\n" +
			"When the client ends, requests that it still waits for are cancelled.",
		Args: cobra.NoArgs,
	}
	remote.AddFlag(c.Flags(), &server)
	c.RunE = func(c *cobra.Command, _ []string) error {
		address, token, err := remote.Server(server)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGHUP) // a terminal that is closed
		defer stop()
		return newPipe(address, token, c.OutOrStdout(), c.ErrOrStderr()).run(ctx, c.InOrStdin())
	}
	return c
}
