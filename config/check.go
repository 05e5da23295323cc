package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/value"
)

var validNamespace = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// check refuses settings that can't be, or don't fit together.
func (c *Config) check() error {
	_, _, err := net.SplitHostPort(c.Listen)
	switch {
	case err != nil:
		return fmt.Errorf("listen: %q is not host:port", c.Listen)
	case !validNamespace.MatchString(c.Namespace):
		return fmt.Errorf("namespace: %q must be 1 to 63 lower-case letters, digits and -, beginning with a letter "+
			"or digit", c.Namespace)
	case c.EventMaxAge < c.ResultTTL:
		return errors.New("event-max-age: must be at least result-ttl, since results are read from events")
	case c.ClientCertificateHeader != "" &&
		(len(c.TrustedProxies) == 0 || !sluice.IsHeaderName(c.ClientCertificateHeader)):
		return errors.New("client-certificate-header: must be the name of a header such as x-client-cert, and needs " +
			"trusted-proxies, since only they are believed")
	case c.PublicURL != "" && !sluice.IsServerURL(c.PublicURL):
		return errors.New("public-url: must be http:// or https:// with a host and perhaps a path, such as " +
			"https://hooks.example.org")
	}
	return cmp.Or(c.checkEngine(), c.checkCertificate(), c.checkBounds(), c.checkMail(), c.checkNATS(),
		c.checkProvider(), c.checkMemory())
}

// checkEngine refuses settings with which no engine can be opened.
func (c *Config) checkEngine() error {
	switch {
	case c.Demo && (c.NATS != "" || c.AuthIssuer != ""):
		return errors.New("demo: goes with neither nats nor auth-issuer, since it fills a server of its own")
	case c.Data == "" && c.NATS == "":
		return errors.New("data: needs a folder")
	case c.NATSReplicas < 1 || c.NATSReplicas > 5:
		return fmt.Errorf("nats-replicas: %d is not from 1 to 5", c.NATSReplicas)
	case c.SecretKey != "" && c.SecretKeyFile != "":
		return errors.New("secret-key and secret-key-file: give one of them")
	case c.NATS != "" && c.SecretKey == "" && c.SecretKeyFile == "":
		return errors.New("secret-key: needed with nats, the same on every node; openssl rand -base64 32 makes one")
	}
	return nil
}

// checkCertificate refuses settings with which there is no certificate, or none can be ordered.
func (c *Config) checkCertificate() error {
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("tls-cert and tls-key: give both or none")
	case len(c.Domain) > 0 && c.TLSCert != "":
		return errors.New("domain and tls-cert: give one of them; certificates for a domain are ordered by the " +
			"server itself")
	case len(c.Domain) > 0 && !sluice.IsServerURL(c.ACMEDirectory):
		return errors.New("acme-directory: must be the URL of an ACME server, such as " +
			"https://acme-v02.api.letsencrypt.org/directory")
	}
	return nil
}

// checkBounds refuses values that the tags of a setting exclude.
func (c *Config) checkBounds() error {
	settings := reflect.ValueOf(c).Elem()
	for f, value := range settings.Fields() {
		name, among, least := f.Tag.Get("name"), f.Tag.Get("among"), f.Tag.Get("least")
		switch {
		case among != "" && !slices.Contains(strings.Split(among, ","), value.String()):
			return fmt.Errorf("%s: %q is none of %s", name, value, strings.ReplaceAll(among, ",", ", "))
		case least == "1" && value.Int() < 1:
			return fmt.Errorf("%s: must be positive", name)
		case least == "0" && value.Int() < 0:
			return fmt.Errorf("%s: must not be negative", name)
		}
	}
	return nil
}

// checkMail refuses settings with which no mail can be sent.
func (c *Config) checkMail() error {
	if c.SMTPURL == "" && c.MailFrom == "" {
		return nil
	}
	if server := c.MailServer(); server == nil || server.Host == "" ||
		server.Scheme != "smtp" && server.Scheme != "smtps" {
		return errors.New("smtp-url: must be smtp:// or smtps:// with a host, perhaps with user:password@ and a " +
			"port; it goes with mail-from")
	}
	if _, err := mail.ParseAddress(c.MailFrom); err != nil || strings.ContainsAny(c.MailFrom, "\r\n") {
		return errors.New("mail-from: must be a mail address such as sluice@example.org; it goes with smtp-url")
	}
	return nil
}

// checkNATS refuses addresses that no engine can have.
func (c *Config) checkNATS() error {
	for _, address := range list([]byte(c.NATS)) {
		if !strings.Contains(address, "://") {
			address = "nats://" + address
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("nats: must be addresses such as nats://nats.example.org:4222, comma-separated")
		}
	}
	return nil
}

// checkProvider refuses settings of an external provider that would have no effect:
// whoever gives them believes that there is one.
func (c *Config) checkProvider() error {
	if c.AuthIssuer != "" {
		if c.AuthClientID == "" {
			return errors.New("auth-client-id: needed with auth-issuer")
		}
		if !sluice.IsServerURL(c.AuthIssuer) {
			return errors.New("auth-issuer: must be the http:// or https:// URL of the provider, such as " +
				"https://login.example.org/realms/main")
		}
		return nil
	}
	for _, s := range Settings() {
		if strings.HasPrefix(s.Name, "auth-") && c.field(s.Name).String() != s.Default {
			return fmt.Errorf("%s: needs auth-issuer, without which there is no external provider", s.Name)
		}
	}
	return nil
}

// checkMemory refuses too little memory; 0 leaves it to the server.
func (c *Config) checkMemory() error {
	switch {
	case c.MemoryLimit > 0 && c.MemoryLimit < leastMemory:
		return errors.New("memory-limit: must be at least 128MiB")
	case c.SpoolMaxBytes < leastSpool:
		return errors.New("spool-max-bytes: must be at least 16MiB, so that some of the largest calls fit; " +
			"--spool=false goes without a spool")
	case c.MaxBodyMemory > 0 && c.MaxBodyMemory < sluice.MaxPayloadLength:
		return fmt.Errorf("max-body-memory: must be at least %dMiB, so that one of the largest bodies fits",
			sluice.MaxPayloadLength>>20)
	case c.MaxRunMemory > 0 && c.MaxRunMemory < 2*value.MaxSize:
		return fmt.Errorf("max-run-memory: must be at least %dMiB, so that one of the largest values fits twice",
			2*value.MaxSize>>20)
	}
	return nil
}

const (
	leastSpool  = 16 << 20  // for two of the largest calls: room for one is always left
	leastMemory = 128 << 20 // for the server itself, and some work
)
