package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/config"
	"sluice/outward"
)

func (t *cli) health(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.Duration("timeout"))
	defer cancel()
	path := sluice.ReadyPath
	if t.On("live") {
		path = sluice.HealthPath
	}
	target, client, err := healthTarget(t.Text("url"))
	if err == nil {
		err = askHealth(ctx, client, target+path)
	}
	if err != nil {
		return exit.Errorf(exit.Other, "%v", err)
	}
	return nil
}

// healthTarget returns where to ask, and a client that can.
func healthTarget(url string) (string, *http.Client, error) {
	if url != "" {
		return strings.TrimSuffix(url, "/"), http.DefaultClient, nil
	}
	cfg, err := config.Load(os.Getenv("SLUICE_CONFIG"), os.Environ(), nil)
	if err != nil {
		return "", nil, err
	}
	if len(cfg.Domain) > 0 && !cfg.ListenGiven {
		cfg.Listen = ":443"
	}
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return "", nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	dial := new(net.Dialer).DialContext
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil && isProxy(cfg.ProxyProtocol, conn.LocalAddr()) {
			_, err = conn.Write([]byte("PROXY UNKNOWN\r\n")) // as the server expects from here
		}
		return conn, err
	}}
	scheme := "http"
	if cfg.TLSCert != "" || len(cfg.Domain) > 0 && !cfg.ListenGiven {
		scheme = "https"
		// The certificate is for the name that others use. Nothing secret is sent, and
		// whoever could listen here instead of the server is on this machine, too.
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	}
	return scheme + "://" + net.JoinHostPort(host, port), &http.Client{Transport: transport}, nil
}

func isProxy(proxies config.Networks, local net.Addr) bool {
	own, err := netip.ParseAddrPort(local.String())
	return err == nil &&
		slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(own.Addr().Unmap()) })
}

// askHealth returns nil if the answer is 200, otherwise an error that says why.
func askHealth(ctx context.Context, client *http.Client, url string) error {
	response, content, err := fetch(ctx, client, url) //nolint:bodyclose // fetch has closed it
	if err != nil {
		return fmt.Errorf("no server answers: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var problem sluice.Problem
	_ = json.Unmarshal(content, &problem) // then it is empty
	return fmt.Errorf("not well: %s", cmp.Or(problem.Detail, "the server answers "+response.Status))
}

// fetch gets a document as a stranger.
func fetch(ctx context.Context, client *http.Client, url string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	const longest = 16 << 20
	return outward.Do(client, request, longest)
}
