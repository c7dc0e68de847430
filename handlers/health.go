package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// RegisterHealth adds /healthz, which answers 200 as long as the process does, and /readyz, which answers 200 while
// ready returns nil and 503 otherwise, with the error's text. Neither needs a sign-in and both answer to any Host.
func RegisterHealth(e *echo.Echo, ready func(ctx context.Context) error) {
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", func(c echo.Context) error {
		if err := ready(c.Request().Context()); err != nil {
			if models.ErrorCode(err) == models.CodeUnavailable {
				return err
			}
			return models.Errorf(models.CodeUnavailable, "Not ready: the store does not answer.")
		}
		return c.String(http.StatusOK, "ready\n")
	})
}
