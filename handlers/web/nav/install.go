package nav

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"countersign/static"
	"countersign/views"
	"countersign/views/pages/nav"
)

// What browsers keep to run the product like a program of their own: a page for when there
// is no network, and the worker that shows it. Both are the same for everybody.

// offlinePage is drawn once, without the time and without warnings, which would be old when
// it is read.
var offlinePage = sync.OnceValues(func() ([]byte, error) {
	var b bytes.Buffer
	err := nav.OfflinePage(views.Page{
		Title: "Offline", Path: views.OfflineURL(), Narrow: true,
	}).Render(context.Background(), &b)
	return b.Bytes(), err
})

// worker is made once.
var worker = sync.OnceValues(func() ([]byte, error) {
	page, err := offlinePage()
	return static.Worker(views.OfflineURL(), page), err
})

func showOffline(c echo.Context) error {
	page, err := offlinePage()
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-cache")
	return c.HTMLBlob(http.StatusOK, page)
}

// serveWorker answers with the service worker. A browser looks for another one itself, at
// most a day after the last time, and no-cache makes it see that at once.
func serveWorker(c echo.Context) error {
	script, err := worker()
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-cache")
	return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", script)
}
