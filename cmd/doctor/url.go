package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"countersign/cmd/config"
	"countersign/handlers"
	"countersign/views"
)

// doctorWait is how long the doctor waits for an answer.
const doctorWait = 5 * time.Second

// publicURL looks whether people and agents reach this server by its configured address.
func (d *doctor) publicURL(ctx context.Context) diagnosis {
	public := d.cfg.PublicURL
	if public == nil {
		if host, _, err := net.SplitHostPort(d.cfg.Addr); err == nil && !handlers.IsLoopback(host) {
			return fail("set --public-url to the address that people and agents use",
				"none is set, so only requests for localhost are answered, and the server listens on %s", d.cfg.Addr)
		}
		return passed("none is set: for this machine only")
	}
	if public.Scheme == "http" && !handlers.IsLoopback(public.Hostname()) {
		return fail("put a proxy with a certificate before it and set --public-url to https://…; .deploy/README.md, “Behind TLS”",
			"%s is plain HTTP: browsers keep a sign-in only over HTTPS or on localhost", public)
	}
	local := &url.URL{Scheme: "http", Host: config.Dialable(d.cfg.Addr)}
	if status, err := probe(ctx, local, "/healthz"); err != nil || status != http.StatusOK {
		return warn("start the server, or set --addr to where it listens",
			"%s was not tried: no server answers on %s", public, d.cfg.Addr)
	}
	const proxy = "look at the proxy: name, certificate, where it leads; .deploy/README.md, “Behind TLS”"
	switch status, err := probe(ctx, public, views.SignInURL("")); {
	case err != nil:
		return fail(proxy, "%s does not answer: %v", public, err)
	case status == http.StatusMisdirectedRequest:
		return fail("have the proxy pass Host on, and set --public-url alike for the server",
			"%s leads to a server that does not know this name", public)
	case status != http.StatusOK:
		return fail(proxy, "%s answers %d, which is not this server", public, status)
	}
	return passed("%s answers", public)
}

// probe sends one GET, follows nothing, and tells the status.
func probe(ctx context.Context, base *url.URL, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", base, err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
