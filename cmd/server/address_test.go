package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/cmd/server"
	"countersign/models"
	"countersign/models/storetest"
)

// TestTheSetupLinkHasTheServersAddress, whatever port it took, while it runs.
func TestTheSetupLinkHasTheServersAddress(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, storetest.Dir(t), "")
	if out := process.Must(t, "", "setup-link", "--data", s.Dir); !strings.HasPrefix(out, s.URL()+"/") {
		t.Errorf("printed %s, want a link to %s", out, s.URL())
	}
	if out := process.Must(t, "", "setup-link", "--data", s.Dir, "--public-url", "https://sign.example.com"); !strings.HasPrefix(out, "https://sign.example.com/") {
		t.Errorf("with an address given it printed %s", out)
	}
	s.Stop()
	if _, err := os.Stat(filepath.Join(s.Dir, models.AddressFile)); !os.IsNotExist(err) {
		t.Errorf("the address of a server that stopped is still there: %v", err)
	}
}

// TestAClockThatWasSetBackIsLogged: the ledger has entries of later than the clock says.
func TestAClockThatWasSetBackIsLogged(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	clock := storetest.NewClock()
	clock.Step(time.Since(clock.Now()) + 3*time.Hour)
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	storetest.Admin(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	said := &process.Output{}
	app, err := server.New(t.Context(), config.Config{Addr: "127.0.0.1:0", Data: dir}, slog.New(slog.NewTextHandler(said, nil)), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- app.Run(ctx) }()
	process.Eventually(t, "the log says it", func() bool { return strings.Contains(said.String(), "the clock was set back") })
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if err := app.Close(); err != nil {
		t.Error(err)
	}
}
