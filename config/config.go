// Package config is the settings of a server: one struct, filled from defaults,
// a YAML file, the environment and flags, in this order. A setting has the same
// name everywhere: result-ttl is the flag --result-ttl, the variable
// SLUICE_RESULT_TTL and the key result-ttl of the file.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// Config is the settings of a server. The tags name each setting, give its default,
// and say what it does.
type Config struct {
	Listen        string  `name:"listen" default:"127.0.0.1:8080" doc:"address to listen on"`
	Data          string  `name:"data" default:"./data" doc:"folder of the embedded engine, or of the spool"`
	MCP           bool    `name:"mcp" default:"true" doc:"offer the commands that change nothing to agents at /mcp, as tools of the Model Context Protocol"`
	MCPChanges    bool    `name:"mcp-changes" default:"false" doc:"offer those that change something, too"`
	Demo          bool    `name:"demo" default:"false" doc:"fill an empty data folder with made-up webhooks and calls to look at, and go on to call them"`
	PublicURL     string  `name:"public-url" doc:"URL under which callers reach this server; default: the listen address"`
	MetricsListen string  `name:"metrics-listen" doc:"address that serves /metrics alone, to anyone who reaches it"`
	Namespace     string  `name:"namespace" default:"default" doc:"namespace (realm) of this service"`
	Domain        Domains `name:"domain" doc:"names of this server, comma-separated, to serve HTTPS on :443 with certificates by ACME, and to redirect :80; listen, if given, is served as well, without HTTPS"`
	ACMEDirectory string  `name:"acme-directory" default:"https://acme-v02.api.letsencrypt.org/directory" doc:"URL of the ACME server's directory"`
	ACMEEmail     string  `name:"acme-email" doc:"address that the ACME server may write to"`
	TLSCert       string  `name:"tls-cert" doc:"file with the certificate chain, to serve HTTPS"`
	TLSKey        string  `name:"tls-key" doc:"file with the key of the certificate"`

	NATS            string `name:"nats" doc:"URLs of an external NATS JetStream engine, comma-separated, instead of the embedded one"`
	NATSCredentials string `name:"nats-credentials" doc:"file with credentials for the external engine"`
	NATSReplicas    int    `name:"nats-replicas" default:"1" doc:"copies the external engine keeps of everything"`
	NATSSync        string `name:"nats-sync" default:"unknown" doc:"always, if the external engine's servers have sync_interval: always, which can't be seen from here"`

	Spool         bool `name:"spool" default:"true" doc:"take calls into the data folder while the external engine is away, and hand them over when it is back"`
	SpoolMaxBytes Size `name:"spool-max-bytes" default:"1GiB" doc:"how many bytes of calls may wait there; more are refused with 503"`

	AccessTTL         time.Duration `name:"access-ttl" default:"5m" doc:"how long an access token is valid"`
	RefreshTTL        time.Duration `name:"refresh-ttl" default:"720h" doc:"how long a login can be renewed"`
	KeyRotation       time.Duration `name:"key-rotation" default:"720h" doc:"how often the key that signs tokens is replaced"`
	AuthIssuer        string        `name:"auth-issuer" doc:"URL of an external OpenID provider, instead of the embedded issuer"`
	AuthClientID      string        `name:"auth-client-id" doc:"client id at the external provider"`
	AuthClientSecret  string        `name:"auth-client-secret" doc:"secret of that client; better given as a variable than as a flag"`
	AuthAudience      string        `name:"auth-audience" doc:"audience that access tokens of the external provider must have; default: the client id"`
	AuthRolesClaim    string        `name:"auth-roles-claim" default:"realm_access.roles" doc:"claim of the external provider's tokens that holds the roles"`
	AuthUsernameClaim string        `name:"auth-username-claim" default:"preferred_username" doc:"claim of the external provider's tokens that holds the username; without the default one, a verified email address or sub is taken"`

	ResultWait     time.Duration `name:"result-wait" default:"300ms" doc:"how long a call waits for its pipelines before it answers processing"`
	ResultTTL      time.Duration `name:"result-ttl" default:"1h" doc:"how long a result can be read"`
	EventMaxAge    time.Duration `name:"event-max-age" default:"168h" doc:"how long events are kept"`
	EventMaxBytes  Size          `name:"event-max-bytes" default:"0" doc:"how many bytes of events are kept; 0: half of the volume, or as much as an external engine takes"`
	ResultMaxCount int           `name:"result-max-count" default:"1000000" doc:"how many results of pipelines are kept; beyond, the oldest go first"`
	ResultMaxBytes Size          `name:"result-max-bytes" default:"1GiB" doc:"how many bytes of results of pipelines are kept"`
	MinFreeDisk    Size          `name:"min-free-disk" default:"512MiB" doc:"free disk space below which calls are refused"`

	Pipelines  string        `name:"pipelines" doc:"folder of pipelines (*.yaml) that are loaded at the start and when they change"`
	MaxRuns    int           `name:"max-runs" default:"4096" doc:"runs of pipelines at the same time"`
	RunTimeout time.Duration `name:"run-timeout" default:"15m" doc:"longest time for a run of a pipeline"`
	RunGrace   time.Duration `name:"run-grace" default:"5s" doc:"time that runs of pipelines have to end when the server stops; calls are taken meanwhile"`
	HTTPAllow  Networks      `name:"http-allow" doc:"private networks that http.request may call, comma-separated, such as 127.0.0.0/8"`

	SMTPURL  string `name:"smtp-url" doc:"mail server for mail.send, such as smtps://user:password@mail.example.org; better given as a variable than as a flag"`
	MailFrom string `name:"mail-from" doc:"address that mails are from, such as sluice@example.org"`

	SecretKey     string `name:"secret-key" doc:"key that seals all records, 32 bytes in base64; better given as a variable than as a flag; default: one made in the data folder"`
	SecretKeyFile string `name:"secret-key-file" doc:"file with that key, instead of the key itself"`
	SealEvents    string `name:"seal-events" default:"auto" switch:"true" doc:"seal events, results, dead letters and what is known of runs as well: true, false, or auto for true where everything is in the data folder and the key is elsewhere"`

	MaxInFlight              int           `name:"max-in-flight" default:"4096" doc:"calls handled at the same time, an eighth of them for one user; more are refused with 503, or with 429"`
	MaxConnections           int           `name:"max-connections" default:"0" doc:"connections open at the same time; 0: 16384, or one for each 64 KiB of memory-limit if that is less"`
	MaxConnectionsPerAddress int           `name:"max-connections-per-address" default:"2048" doc:"connections of one client address"`
	MemoryLimit              Size          `name:"memory-limit" default:"0" doc:"memory that the server may use; 0: that of its container, or half of the machine's"`
	MaxBodyMemory            Size          `name:"max-body-memory" default:"0" doc:"memory for large bodies at the same time; more are refused with 503; 0: a quarter of memory-limit"`
	MaxRunMemory             Size          `name:"max-run-memory" default:"0" doc:"memory for runs of pipelines at the same time; more wait, or are refused with 503; 0: a quarter of memory-limit"`
	BodyTimeout              time.Duration `name:"body-timeout" default:"2m" doc:"longest time for a body to arrive, at 1 KiB a second at least"`
	DrainWait                time.Duration `name:"drain-wait" default:"0s" doc:"time between turning unready and closing the listener, for load balancers to notice"`

	TrustedProxies          Networks `name:"trusted-proxies" doc:"networks of proxies that are believed when they tell a client's address, comma-separated"`
	ForwardedHeader         string   `name:"forwarded-header" default:"x-forwarded-for" doc:"header in which trusted proxies tell it: x-forwarded-for or forwarded (RFC 7239)"`
	ClientCertificateHeader string   `name:"client-certificate-header" doc:"header in which trusted proxies pass on a client's certificate: URL-escaped PEM as nginx sends it, or as RFC 9440 says"`
	ProxyProtocol           Networks `name:"proxy-protocol" doc:"networks of proxies whose connections begin with a PROXY protocol header, comma-separated"`
	CORSOrigins             Origins  `name:"cors-origins" doc:"origins whose pages may call the API from a browser, comma-separated, such as https://app.example.org"`
	RedactHeaders           Headers  `name:"redact-headers" doc:"further request headers to keep out of events, comma-separated"`

	LogLevel  string `name:"log-level" default:"info" doc:"least important lines to log: debug, info, warn or error"`
	LogFormat string `name:"log-format" default:"auto" doc:"form of the log: text, json, or auto for text on a terminal"`
	AuditLog  bool   `name:"audit-log" default:"false" doc:"copy the entries of the audit log to standard error, as JSON lines"`

	ListenGiven bool // listen is not the default
}

// HTTPS reports whether the server itself speaks HTTPS.
func (c *Config) HTTPS() bool { return c.TLSCert != "" || len(c.Domain) > 0 }

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
	return cmp.Or(c.checkEngine(), c.checkCertificate(), c.checkChoices(), c.checkMail(), c.checkNATS(),
		c.checkProvider(), c.checkMemory(), c.checkSigns())
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

// checkChoices refuses values of settings that have a fixed choice.
func (c *Config) checkChoices() error {
	for _, choice := range []struct {
		name, value string
		among       []string
	}{
		{"nats-sync", c.NATSSync, []string{"unknown", "always"}},
		{"forwarded-header", c.ForwardedHeader, []string{"x-forwarded-for", "forwarded"}},
		{"log-level", c.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"seal-events", c.SealEvents, []string{"auto", "true", "false"}},
		{"log-format", c.LogFormat, []string{"auto", "text", "json"}},
	} {
		if !slices.Contains(choice.among, choice.value) {
			return fmt.Errorf("%s: %q is none of %s", choice.name, choice.value, strings.Join(choice.among, ", "))
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

// MailServer returns the address of the mail server, nil if there is none.
func (c *Config) MailServer() *url.URL {
	server, err := url.Parse(c.SMTPURL)
	if err != nil || c.SMTPURL == "" {
		return nil
	}
	return server
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

// checkSigns refuses numbers below zero, and zero where nothing would work with it.
func (c *Config) checkSigns() error {
	for _, name := range []string{
		"result-ttl", "access-ttl", "refresh-ttl", "key-rotation", "result-max-count", "result-max-bytes", "max-runs",
		"run-timeout",
		"max-in-flight", "max-connections-per-address", "body-timeout",
	} {
		if c.field(name).Int() <= 0 {
			return fmt.Errorf("%s: must be positive", name)
		}
	}
	for _, name := range []string{"result-wait", "drain-wait", "run-grace", "max-connections"} {
		if c.field(name).Int() < 0 {
			return fmt.Errorf("%s: must not be negative", name)
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
