package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
)

// TestRequestsThatSomebodyShouldSeeHaveALine: those that failed, came without a sign-in that
// counts, or took long without waiting for anybody. With AccessLog all have one.
func TestRequestsThatSomebodyShouldSeeHaveALine(t *testing.T) {
	t.Parallel()
	waits := func(c echo.Context) error {
		handlers.ExtendDeadlines(c.Request().Context(), c.Response(), time.Minute)
		return nil
	}
	streams := func(c echo.Context) error {
		_, err := handlers.NewEventStream(c.Response())
		return err
	}
	for name, tt := range map[string]struct {
		status int
		took   time.Duration
		does   func(echo.Context) error
		want   bool
	}{
		"answered":          {http.StatusOK, time.Second, nil, false},
		"not found":         {http.StatusNotFound, 0, nil, false},
		"not allowed":       {http.StatusForbidden, 0, nil, false},
		"not valid":         {http.StatusUnprocessableEntity, 0, nil, false},
		"not signed in":     {http.StatusUnauthorized, 0, nil, true},
		"failed":            {http.StatusInternalServerError, 0, nil, true},
		"stopping":          {http.StatusServiceUnavailable, 0, nil, true},
		"a full disk":       {http.StatusInsufficientStorage, 0, nil, true},
		"slow":              {http.StatusOK, time.Second + 1, nil, true},
		"waited":            {http.StatusOK, 50 * time.Second, waits, false},
		"waited and failed": {http.StatusInternalServerError, 50 * time.Second, waits, true},
		"a stream":          {http.StatusOK, time.Hour, streams, false},
	} {
		for _, all := range []bool{false, true} {
			k, log := kit()
			now := time.Unix(0, 0)
			k.Now, k.AccessLog = func() time.Time { return now }, all
			e := k.Router(k.FailJSON)
			e.GET("/", func(c echo.Context) error {
				now = now.Add(tt.took)
				if tt.does != nil {
					if err := tt.does(c); err != nil || c.Response().Committed {
						return err
					}
				}
				return c.NoContent(tt.status)
			})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.Host = "sign.example.com"
			e.ServeHTTP(httptest.NewRecorder(), r)
			if got := strings.Contains(log.String(), `"msg":"request"`); got != (all || tt.want) {
				t.Errorf("%s, with all %v: a line %v\n%s", name, all, got, log)
			}
		}
	}
}
