package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/crypto/acme"

	"sluice"
	"sluice/config"
	"sluice/expression"
	"sluice/lane"
	"sluice/portal"
	"sluice/portal/page"
	"sluice/webhook/trust"
)

// maxHeader bounds the headers of a request; net/http adds 4 KiB.
const maxHeader = 28 << 10

// Bounds on an HTTP/2 connection: its streams, and the bytes that no handler has read yet.
const (
	maxStreams = 64
	maxUnread  = 256 << 10
)

// ownAnswers is how long a client may take to read what net/http answers by itself: on a
// stream of HTTP/2 that counts nowhere. Handlers have deadlines of their own.
const ownAnswers = time.Second

// boundedServer returns a server with the bounds that each of ours has. Its listener must be one
// of lane, which counts the lines of a head.
func (s *Server) boundedServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: s.Timeouts.Header,
		ReadTimeout:       s.Timeouts.BodyIdle, // for unread bodies; limit.Pace sets its own
		WriteTimeout:      ownAnswers,
		IdleTimeout:       s.Timeouts.Idle,
		MaxHeaderBytes:    maxHeader,
		ConnState:         lane.ConnState,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxUnread,
			MaxReceiveBufferPerStream: maxUnread,
		},
		ErrorLog: log.New(serverLog{s.Log}, "", 0),
	}
}

// A serverLog writes down what net/http finds. Strangers can cause a line for each connection by a
// handshake that they break off, as health checks do: those are details.
type serverLog struct{ to *slog.Logger }

// Write implements io.Writer.
func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.Contains(line, []byte("TLS handshake error")) {
		level = slog.LevelDebug
	}
	l.to.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

// serveBeside serves what is answered from the head alone on a listener of its own, until the server ends.
// Connections count with those of the main listener.
func (s *Server) serveBeside(listener net.Listener, handler http.Handler) {
	server := s.boundedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // nobody waits for a body
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // a connection has deadlines
		}
		handler.ServeHTTP(w, r)
	}))
	server.WriteTimeout = s.Timeouts.Write
	s.beside = append(s.beside, server)
	go func() { _ = server.Serve(lane.Heads(s.connections.Beside(listener))) }() // ends with the server
}

func (s *Server) httpServer() *http.Server {
	server := s.boundedServer(s.api.Bounded())
	if s.certificate != nil {
		server.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get,
			NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}, GetConfigForClient: s.configForClient,
		}
	}
	return server
}

// configForClient asks the client for a certificate, if some webhook demands one. Browsers
// then ask people for it, too. Such sessions are not resumed: the one before may have begun
// without it.
func (s *Server) configForClient(*tls.ClientHelloInfo) (*tls.Config, error) {
	if s.certificateSource() != trust.FromConnection || !s.webhooks.DemandsCertificates() {
		return nil, nil
	}
	config := s.http.TLSConfig.Clone()
	config.GetConfigForClient, config.ClientAuth, config.SessionTicketsDisabled = nil, tls.RequestClientCert, true
	return config, nil
}

// newLane returns the lane for calls of webhooks, which are most requests. It hands other
// connections to the HTTP server.
func (s *Server) newLane() *lane.Lane {
	listener := s.listener
	if s.http.TLSConfig != nil {
		listener = tls.NewListener(listener, s.http.TLSConfig)
	}
	return lane.New(listener, lane.Options{
		Path:          sluice.ReceivePath,
		Handler:       s.api,
		HeaderTimeout: s.Timeouts.Header,
		IdleTimeout:   s.Timeouts.Idle,
		Log:           s.Log,
	})
}

// startMetrics serves the metrics on an address of their own, if there is one.
func (s *Server) startMetrics(ctx context.Context) error {
	if s.cfg.MetricsListen == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.MetricsListen)
	if err != nil {
		return fmt.Errorf("metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+sluice.MetricsPath, s.metrics.Handler())
	s.serveBeside(listener, mux)
	return nil
}

func (s *Server) serve(listener net.Listener) {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		s.served <- err
	}
}

// ownURL returns the URL of the address that the server listens on, with localhost instead of
// a wildcard.
func ownURL(cfg config.Config, addr net.Addr) string {
	scheme := "http"
	if cfg.HTTPS() {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// warnings returns warnings for the operator about keys, certificate and address.
func (s *Server) warnings() []string {
	warnings := append(s.keyWarnings(), s.certificateWarnings()...)
	host, _, err := net.SplitHostPort(s.Address())
	ip := net.ParseIP(host)
	if err != nil || ip == nil {
		return warnings
	}
	if !s.cfg.HTTPS() && !ip.IsLoopback() {
		warnings = append(warnings, "serving plain HTTP beyond this machine: tokens and passwords can be read on the "+
			"way; set --domain, or --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
	if s.cfg.PublicURL == "" && ip.IsUnspecified() {
		warnings = append(warnings, "webhook URLs will say "+s.baseURL+"; set --public-url to what callers use")
	}
	return warnings
}

// newPortal makes the portal. It calls webhooks through the API, as other callers do.
func (s *Server) newPortal(provider page.Provider) *portal.Portal {
	opts := portal.Options{
		Commands:  s.commands,
		Sessions:  s.engine.PortalSessions,
		Provider:  provider,
		Issuer:    s.cfg.AuthIssuer,
		Identify:  s.directory.Identify,
		Note:      s.directory.Note,
		Receive:   func(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) },
		Users:     s.users,
		Tail:      s.engine.Journal,
		Stopping:  s.stopping,
		Reference: func() ([]byte, error) { return s.api.OpenAPI() },
		Functions: expression.Functions(),
		Version:   Version,
		Namespace: s.cfg.Namespace,
		BaseURL:   s.baseURL,
		Demo:      s.demo,
		Log:       s.Log,
	}
	if provider == nil {
		opts.Login, opts.Programs = s.directory.Login, s.issuer
	}
	return portal.New(opts)
}
