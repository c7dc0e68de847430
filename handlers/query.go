package handlers

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// ReadableQuery refuses addresses whose query cannot be read as a whole. net/url
// drops the pairs that it cannot read, a ";" among them, and a list whose filter was
// dropped would show more than was asked for.
func ReadableQuery(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if raw := c.Request().URL.RawQuery; raw != "" {
			if _, err := url.ParseQuery(raw); err != nil {
				return models.Invalid("query", "must be NAME=VALUE pairs joined by &; write ; as %%3B and %% as %%25")
			}
		}
		return next(c)
	}
}
