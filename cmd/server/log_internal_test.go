package server

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign/cmd/config"
)

func TestLogLinesWaitForCompanyAndWarningsDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log, flush := NewLogger(config.Config{LogLevel: slog.LevelInfo}, &out)
		log = log.With("a", 1).WithGroup("g")
		log.Info("first")
		if out.Len() != 0 {
			t.Errorf("written at once: %s", out.String())
		}
		log.Warn("second")
		if got := out.String(); strings.Count(got, "\n") != 2 || strings.Index(got, "first") > strings.Index(got, "second") {
			t.Errorf("a warning does not take along what was before it: %s", got)
		}
		log.Info("third")
		time.Sleep(logEvery) //nolint:forbidigo // fake time
		synctest.Wait()
		if !strings.Contains(out.String(), "third") {
			t.Error("a line waits for ever")
		}
		log.Info("fourth")
		flush()
		if !strings.Contains(out.String(), "fourth") {
			t.Error("flush leaves a line behind")
		}
	})
}
