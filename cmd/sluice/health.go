package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/config"
)

func healthCommand() *cobra.Command {
	var url string
	var live bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Tell whether the server on this machine is well",
		Long: `Tell whether the server on this machine is well: exit with 0 if calls are welcome, otherwise say why
			not and exit with 1. For container runtimes and scripts; it needs no login. It asks where a server with
			the same variables of the environment (SLUICE_LISTEN, SLUICE_CONFIG, …) listens.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			path := sluice.ReadyPath
			if live {
				path = sluice.HealthPath
			}
			target, client, err := healthTarget(url)
			if err == nil {
				err = askHealth(ctx, client, target+path)
			}
			if err != nil {
				return exit.Errorf(exit.Other, "%v", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "URL of the server, instead of the one on this machine")
	cmd.Flags().BoolVar(&live, "live", false, "ask only whether the process answers, ready or not")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long the answer may take")
	return cmd
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no server answers: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	const longest = 64 << 10
	content, _ := io.ReadAll(io.LimitReader(response.Body, longest)) // whatever can be read
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(content, &problem) != nil || problem.Detail == "" {
		problem.Detail = "the server answers " + response.Status
	}
	return fmt.Errorf("not well: %s", problem.Detail)
}
