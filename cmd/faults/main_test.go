package faults_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/cmd/server"
	"countersign/models/store"
)

// clockEnv has the test program be a node: `countersign serve` on a machine whose clock is so many seconds ahead.
const clockEnv = "COUNTERSIGN_FAULTS_CLOCK"

func TestMain(m *testing.M) {
	if ahead, is := os.LookupEnv(clockEnv); is {
		if err := serve(ahead); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	process.Binary, _ = os.Executable()
	os.Exit(m.Run())
}

func serve(ahead string) (err error) {
	seconds, err := strconv.Atoi(ahead)
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Add(flags, config.All()...)
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	cfg, err := config.Read(flags, os.LookupEnv)
	if err != nil {
		return err
	}
	log, flush := server.NewLogger(cfg, os.Stderr)
	defer flush()
	app, err := server.New(context.Background(), cfg, log, nil, func(o *store.Options) {
		o.Machine = func() time.Time { return time.Now().Add(time.Duration(seconds) * time.Second) }
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	return app.Run(context.Background())
}
