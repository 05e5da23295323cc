package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"sluice"
	"sluice/api"
	"sluice/lane"
	"sluice/wait"
)

// domains has a certificate for each name of --domain. It orders them by itself, whoever calls:
// a handshake never causes an order, so strangers can't use up what the ACME server allows.
type domains struct {
	names   []string
	manager *autocert.Manager
	log     *slog.Logger
	without sync.Map // names that have no certificate, and why
}

func (s *Server) newDomains() *domains {
	d := &domains{names: s.cfg.Domain, log: s.Log}
	for _, name := range d.names {
		d.without.Store(name, "it is being ordered")
	}
	d.manager = &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      certificateStore{s.engine.Certificates},
		HostPolicy: autocert.HostWhitelist(d.names...),
		Client: &acme.Client{
			DirectoryURL: s.cfg.ACMEDirectory, UserAgent: "sluice/" + Version, HTTPClient: &http.Client{
				Transport: s.Doors.ACME, Timeout: acmeTimeout,
			},
		},
		Email: s.cfg.ACMEEmail,
	}
	return d
}

// get implements certificates. The ACME server's own handshakes are answered as they ask.
func (d *domains) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return d.manager.GetCertificate(hello)
	}
	name := cmp.Or(strings.ToLower(strings.TrimSuffix(hello.ServerName, ".")), d.names[0])
	if why, lacks := d.without.Load(name); lacks {
		return nil, fmt.Errorf("there is no certificate for the name in a handshake: %s", why)
	}
	if !slices.Contains(d.names, name) {
		return nil, errors.New("there is no certificate for the name in a handshake: it is not one of --domain")
	}
	return d.certificate(name)
}

// certificate returns the certificate of a name, which is ordered if there is none.
func (d *domains) certificate(name string) (*tls.Certificate, error) {
	return d.manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
}

// acmeTimeout bounds how long the ACME server may take for an answer.
const acmeTimeout = time.Minute

// Pauses between two orders of a certificate that can't be had: ACME servers allow few.
const (
	firstOrderPause   = 2 * time.Minute
	longestOrderPause = time.Hour
)

// order gets the certificate of a name, however long that takes. From then on it is renewed in
// time.
func (d *domains) order(ctx context.Context, name string) {
	for pause := firstOrderPause; ; pause = min(2*pause, longestOrderPause) {
		_, err := d.certificate(name)
		if err == nil {
			d.without.Delete(name)
			d.log.Info("There is a certificate.", "domain", name)
			return
		}
		d.without.Store(name, err.Error())
		d.log.Error("A certificate could not be had; trying on. The name must lead here, and ports 80 and 443 must "+
			"be reachable from the Internet.", "domain", name, "again", pause, "error", err)
		if wait.For(ctx, pause) != nil {
			return
		}
	}
}

// warnings implements certificates.
func (d *domains) warnings() (all []string) {
	for _, name := range d.names {
		if why, lacks := d.without.Load(name); lacks {
			all = append(all, fmt.Sprintf("there is no certificate for %s, so nobody can call it: %s", name, why))
			continue
		}
		if cert, err := d.certificate(name); err == nil && time.Until(cert.Leaf.NotAfter) < expiresSoon {
			all = append(all, fmt.Sprintf("the certificate for %s ends on %s and was not renewed: the name must lead "+
				"here, with ports 80 and 443", name, cert.Leaf.NotAfter.UTC().Format(time.RFC1123)))
		}
	}
	return all
}

// openDoors serves what --domain adds: redirects to HTTPS with the ACME server's challenges, and
// the address of --listen, if it is given. Then it orders the certificates.
func (s *Server) openDoors(ctx context.Context) error {
	if s.domains == nil {
		return nil
	}
	plain, err := listenOn(ctx, cmp.Or(s.Doors.HTTP, ":80"), doorAdvice)
	if err != nil {
		return err
	}
	s.serveBeside(plain, s.domains.manager.HTTPHandler(http.HandlerFunc(s.toHTTPS)))
	if s.cfg.ListenGiven {
		inside, err := listenOn(ctx, s.cfg.Listen, listenAdvice)
		if err != nil {
			return err
		}
		go s.serve(lane.Heads(
			api.ProxyProtocol(s.connections.Beside(inside), s.cfg.ProxyProtocol, s.Timeouts.Header)))
	}
	ordering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-s.stopping
		cancel()
	}()
	for _, name := range s.domains.names {
		go func() {
			if s.untilSetUp(ordering) == nil {
				s.domains.order(ordering, name)
			}
		}()
	}
	return nil
}

// toHTTPS redirects to the name that was called, if it is ours.
func (s *Server) toHTTPS(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !slices.Contains(s.domains.names, strings.ToLower(host)) {
		host = s.domains.names[0]
	}
	path := r.URL.RequestURI()
	if r.URL.Opaque != "" { // it would go on with the host
		path = "/"
	}
	//nolint:gosec // the host is one of ours
	http.Redirect(w, r, "https://"+host+path, http.StatusPermanentRedirect)
}

// certificateStore keeps what autocert stores as records, sealed and shared by all nodes.
type certificateStore struct {
	records sluice.Records[sluice.CertificateRecord]
}

// Get implements autocert.Cache.
func (c certificateStore) Get(ctx context.Context, name string) ([]byte, error) {
	found, err := c.records.Get(ctx, recordKey(name))
	if err == nil && found == nil {
		return nil, autocert.ErrCacheMiss
	}
	if err != nil {
		return nil, err
	}
	return found.Content, nil
}

// Put implements autocert.Cache.
func (c certificateStore) Put(ctx context.Context, name string, content []byte) error {
	return sluice.Put(ctx, c.records, recordKey(name), &sluice.CertificateRecord{Name: name, Content: content})
}

// Delete implements autocert.Cache.
func (c certificateStore) Delete(ctx context.Context, name string) error {
	return sluice.Remove(ctx, c.records, recordKey(name))
}

// recordKey makes the key of a record of a name that may have other characters.
func recordKey(name string) string { return hex.EncodeToString([]byte(name)) }
