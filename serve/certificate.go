package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificates are what the server shows to its callers.
type certificates interface {
	// get implements tls.Config.GetCertificate.
	get(hello *tls.ClientHelloInfo) (*tls.Certificate, error)

	// warnings warns if callers reject one, or soon will.
	warnings() []string
}

func (s *Server) certificateWarnings() []string {
	if s.certificate == nil {
		return nil
	}
	return s.certificate.warnings()
}

// checkEvery is the shortest time between two checks of the files.
const checkEvery = time.Second

// A certificate is read again when its files change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	version string // of the files that current was read from
	checked time.Time
}

func (c *certificate) load() error {
	version := c.filesVersion()
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("tls-cert and tls-key: %w", err)
	}
	c.current, c.version = &cert, version
	return nil
}

// get implements tls.Config.GetCertificate. While the files don't match, as when they are
// being replaced, the old certificate stays in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) < checkEvery {
		return c.current, nil
	}
	c.checked = time.Now()
	if c.filesVersion() == c.version {
		return c.current, nil
	}
	if err := c.load(); err != nil {
		c.log.Error("The changed certificate can't be used; the old one stays.", "error", err)
	} else {
		c.log.Info("The certificate was read again.")
	}
	return c.current, nil
}

// expiresSoon is how long before the end of a certificate the warnings begin: by then an
// automatic renewal has failed.
const expiresSoon = 14 * 24 * time.Hour

// warnings implements certificates.
func (c *certificate) warnings() []string {
	current, _ := c.get(nil) // it never fails
	const day = "2 January 2006, 15:04 UTC"
	switch end := current.Leaf.NotAfter.UTC(); {
	case time.Now().After(end):
		return []string{"the certificate of --tls-cert expired on " + end.Format(day) +
			": senders refuse to call; replace the files, no restart is needed"}
	case time.Until(end) < expiresSoon:
		return []string{"the certificate of --tls-cert expires on " + end.Format(day) +
			": replace the files before, no restart is needed"}
	}
	return nil
}

// filesVersion changes when one of the files changes.
func (c *certificate) filesVersion() string { return fileVersion(c.certFile) + fileVersion(c.keyFile) }

func fileVersion(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}
