package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/server"
	"countersign/cmd/terminal"
)

const (
	demoEmail = "admin@example.com"
	demoAgent = "demo-agent"
	// demoPorts is how many ports are tried when the first is taken.
	demoPorts = 50
)

// Command starts a server with one admin and an agent that asks.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Start a server with one admin and an agent that asks, to try things out",
		Long: "Start a server with one admin and an agent that asks, to try things out. It has\n" +
			"its own data folder and prints the address and a password, a new one each time.\n" +
			"If port 8080 is taken, the next free one is used.",
		Args: cobra.NoArgs,
	}
	data := config.DataSetting
	data.Initial, data.Usage = "./demo-data", "the demo's own data folder, made if missing"
	config.Add(c.Flags(), data, config.DatabaseSetting)
	for _, s := range config.ServeSettings {
		switch s.Flag {
		case "log-level":
			s.Initial = "warn" // the terminal is for what the agent does
			config.Add(c.Flags(), s)
		case "addr", "public-url", "log-format":
			config.Add(c.Flags(), s)
		}
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		cfg.StreamsPerUser = 20
		return runDemo(c, cfg)
	}
	return c
}

func runDemo(c *cobra.Command, cfg config.Config) (err error) {
	ctx, out := c.Context(), c.OutOrStdout()
	folder, err := openDemoFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	log, flush := server.NewLogger(cfg, c.ErrOrStderr())
	defer flush()
	password := newPassword()
	token, err := folder.people(ctx, cfg, log, password)
	if err != nil {
		return err
	}
	app, err := listenNear(cfg.Addr, func(addr string) (*server.App, error) {
		cfg.Addr = addr
		return server.New(ctx, cfg, log, nil)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()

	fmt.Fprintf(out, "\nA demo agent asks for a shell command, a file edit, a payment and an answer. Sign in and\n"+
		"decide: approve, change the input, reject with a reason, or let the time run out, and see\n"+
		"here what the agent does. Under Conversations the built-in agent, a scripted demonstration,\n"+
		"proposes something and asks for energy. Ctrl-C stops the demo; what happened stays in %s.\n\n",
		terminal.Plain(cfg.Data))
	// Last, so that it stays in sight: the agent is silent until somebody decides.
	fmt.Fprintf(out, "    Open      %s\n    E-mail    %s\n    Password  %s\n\n", app.URL(), demoEmail, password)

	agentCtx, stopAgent := context.WithCancel(ctx)
	agent := make(chan error, 1)
	go func() { agent <- runDemoAgent(agentCtx, app, token, out, c.ErrOrStderr()) }()
	err = app.Run(ctx)
	stopAgent()
	if agentErr := <-agent; agentErr != nil {
		err = errors.Join(err, fmt.Errorf("the demo agent: %w", agentErr))
	}
	return err
}

// listenNear starts at an address, or at one of the next ports while they are
// taken.
func listenNear(addr string, start func(addr string) (*server.App, error)) (*server.App, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	first, err := strconv.Atoi(portText)
	if err != nil {
		return nil, err
	}
	for port := first; ; port++ {
		app, err := start(net.JoinHostPort(host, strconv.Itoa(port)))
		if !errors.Is(err, syscall.EADDRINUSE) || port >= first+demoPorts || port == 65535 {
			return app, err
		}
	}
}

// runDemoAgent runs the agent as a separate process until ctx ends. It knows the
// server's address and its token; on its standard input it reads a line every
// second while somebody has a page open. The input ends when this process does,
// however that happens, and then the agent ends too.
func runDemoAgent(ctx context.Context, app *server.App, token string, out, say io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	agent := exec.CommandContext(ctx, self, demoAgent) //nolint:gosec // this very program
	agent.Env = []string{"COUNTERSIGN_SERVER=http://" + config.Dialable(app.Addr()), "COUNTERSIGN_TOKEN=" + token}
	agent.Stdout, agent.Stderr = out, say
	agent.Cancel = func() error { return agent.Process.Signal(syscall.SIGTERM) }
	agent.WaitDelay = time.Second
	input, err := agent.StdinPipe()
	if err != nil {
		return err
	}
	defer input.Close()
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	go tellOfReaders(watchCtx, app, input)
	if err := agent.Run(); err != nil && ctx.Err() == nil {
		fmt.Fprintf(say, "the demo agent stopped (%s); the server goes on\n", terminal.Plain(err.Error()))
		return nil
	}
	return nil
}

// tellOfReaders writes a line every second while somebody has a page open.
func tellOfReaders(ctx context.Context, app *server.App, agent io.Writer) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !app.Watched() {
				continue
			}
			if _, err := io.WriteString(agent, "watched\n"); err != nil {
				return // the agent is done
			}
		}
	}
}

// newPassword is 80 random bits in four groups that can be typed.
func newPassword() string {
	text := strings.ToLower(rand.Text())
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:16]
}
