// Package config is the settings of a server: one struct, filled from defaults,
// a YAML file, the environment and flags, in this order. A setting has the same
// name everywhere: result-ttl is the flag --result-ttl, the variable
// SLUICE_RESULT_TTL and the key result-ttl of the file.
package config

import (
	"net/url"
	"time"
)

// Config is the settings of a server. The tags name each setting, give its default, say what it
// does, which values it can have (among), whether 0 and numbers below it make no sense (least), and whether
// it is or may contain a secret.
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

	NATS            string `name:"nats" secret:"true" doc:"URLs of an external NATS JetStream engine, comma-separated, instead of the embedded one"`
	NATSCredentials string `name:"nats-credentials" doc:"file with credentials for the external engine"`
	NATSReplicas    int    `name:"nats-replicas" default:"1" doc:"copies the external engine keeps of everything"`
	NATSSync        string `name:"nats-sync" among:"unknown,always" default:"unknown" doc:"always, if the external engine's servers have sync_interval: always, which can't be seen from here"`

	Spool         bool `name:"spool" default:"true" doc:"take calls into the data folder while the external engine is away, and hand them over when it is back"`
	SpoolMaxBytes Size `name:"spool-max-bytes" default:"1GiB" doc:"how many bytes of calls may wait there; more are refused with 503"`

	AccessTTL         time.Duration `name:"access-ttl" least:"1" default:"5m" doc:"how long an access token is valid"`
	RefreshTTL        time.Duration `name:"refresh-ttl" least:"1" default:"720h" doc:"how long a login can be renewed"`
	KeyRotation       time.Duration `name:"key-rotation" least:"1" default:"720h" doc:"how often the key that signs tokens is replaced"`
	AuthIssuer        string        `name:"auth-issuer" doc:"URL of an external OpenID provider, instead of the embedded issuer"`
	AuthClientID      string        `name:"auth-client-id" doc:"client id at the external provider"`
	AuthCLIClient     string        `name:"auth-cli-client" doc:"id of a public client at the external provider, with which sluice login signs people in; tokens for it are taken"`
	AuthClientSecret  string        `name:"auth-client-secret" secret:"true" doc:"secret of that client; better given as a variable than as a flag"`
	AuthAudience      string        `name:"auth-audience" doc:"audience that access tokens of the external provider must have; default: the client id"`
	AuthRolesClaim    string        `name:"auth-roles-claim" default:"realm_access.roles" doc:"claim of the external provider's tokens that holds the roles"`
	AuthUsernameClaim string        `name:"auth-username-claim" default:"preferred_username" doc:"claim of the external provider's tokens that holds the username; without the default one, a verified email address or sub is taken"`

	ResultWait     time.Duration `name:"result-wait" least:"0" default:"300ms" doc:"how long a call waits for its pipelines before it answers processing"`
	ResultTTL      time.Duration `name:"result-ttl" least:"1" default:"1h" doc:"how long a result can be read"`
	EventMaxAge    time.Duration `name:"event-max-age" default:"168h" doc:"how long events are kept"`
	EventMaxBytes  Size          `name:"event-max-bytes" default:"0" doc:"how many bytes of events are kept; 0: half of the volume, or as much as an external engine takes"`
	ResultMaxCount int           `name:"result-max-count" least:"1" default:"1000000" doc:"how many results of pipelines are kept; beyond, the oldest of the pipelines with most go"`
	ResultMaxBytes Size          `name:"result-max-bytes" least:"1" default:"1GiB" doc:"how many bytes of results of pipelines are kept"`
	MinFreeDisk    Size          `name:"min-free-disk" default:"512MiB" doc:"free disk space below which calls are refused"`

	Pipelines  string        `name:"pipelines" doc:"folder of pipelines (*.yaml) that are loaded at the start and when they change"`
	MaxRuns    int           `name:"max-runs" least:"1" default:"4096" doc:"runs of pipelines at the same time"`
	RunTimeout time.Duration `name:"run-timeout" least:"1" default:"15m" doc:"longest time for a run of a pipeline"`
	RunGrace   time.Duration `name:"run-grace" least:"0" default:"5s" doc:"time that runs of pipelines have to end when the server stops; calls are taken meanwhile"`
	HTTPAllow  Networks      `name:"http-allow" doc:"private networks that steps may call, comma-separated, such as 127.0.0.0/8"`

	SMTPURL  string `name:"smtp-url" secret:"true" doc:"mail server for mail.send, such as smtps://user:password@mail.example.org; better given as a variable than as a flag"`
	MailFrom string `name:"mail-from" doc:"address that mails are from, such as sluice@example.org"`

	SecretKey     string `name:"secret-key" secret:"true" doc:"key that seals all records, 32 bytes in base64; better given as a variable than as a flag; default: one made in the data folder"`
	SecretKeyFile string `name:"secret-key-file" doc:"file with that key, instead of the key itself"`
	SealEvents    string `name:"seal-events" among:"auto,true,false" default:"auto" switch:"true" doc:"seal events, results, dead letters and what is known of runs as well: true, false, or auto for true where everything is in the data folder and the key is elsewhere"`

	MaxInFlight              int           `name:"max-in-flight" least:"1" default:"4096" doc:"calls handled at the same time, an eighth of them for one user; more are refused with 503, or with 429"`
	MaxConnections           int           `name:"max-connections" least:"0" default:"0" doc:"connections open at the same time; 0: 16384, or one for each 64 KiB of memory-limit if that is less"`
	MaxConnectionsPerAddress int           `name:"max-connections-per-address" least:"1" default:"2048" doc:"connections of one client address"`
	MemoryLimit              Size          `name:"memory-limit" default:"0" doc:"memory that the server may use; 0: that of its container, or half of the machine's"`
	MaxBodyMemory            Size          `name:"max-body-memory" default:"0" doc:"memory for large bodies at the same time; more are refused with 503; 0: a quarter of memory-limit"`
	MaxRunMemory             Size          `name:"max-run-memory" default:"0" doc:"memory for runs of pipelines at the same time; more wait, or are refused with 503; 0: a quarter of memory-limit"`
	BodyTimeout              time.Duration `name:"body-timeout" least:"1" default:"2m" doc:"longest time for a body to arrive, at 1 KiB a second at least"`
	DrainWait                time.Duration `name:"drain-wait" least:"0" default:"0s" doc:"time between turning unready and closing the listener, for load balancers to notice"`

	TrustedProxies          Networks `name:"trusted-proxies" doc:"networks of proxies that are believed when they tell a client's address, comma-separated"`
	ForwardedHeader         string   `name:"forwarded-header" among:"x-forwarded-for,forwarded" default:"x-forwarded-for" doc:"header in which trusted proxies tell it: x-forwarded-for or forwarded (RFC 7239)"`
	ClientCertificateHeader string   `name:"client-certificate-header" doc:"header in which trusted proxies pass on a client's certificate: URL-escaped PEM as nginx sends it, or as RFC 9440 says"`
	ProxyProtocol           Networks `name:"proxy-protocol" doc:"networks of proxies whose connections begin with a PROXY protocol header, comma-separated"`
	CORSOrigins             Origins  `name:"cors-origins" doc:"origins whose pages may call the API from a browser, comma-separated, such as https://app.example.org"`
	RedactHeaders           Headers  `name:"redact-headers" doc:"further request headers to keep out of events, comma-separated"`

	LogLevel  string `name:"log-level" among:"debug,info,warn,error" default:"info" doc:"least important lines to log: debug, info, warn or error"`
	LogFormat string `name:"log-format" among:"auto,text,json" default:"auto" doc:"form of the log: text, json, or auto for text on a terminal"`
	AuditLog  bool   `name:"audit-log" default:"false" doc:"copy the entries of the audit log to standard error, as JSON lines"`

	ListenGiven bool // listen is not the default
}

// HTTPS reports whether the server itself speaks HTTPS.
func (c *Config) HTTPS() bool { return c.TLSCert != "" || len(c.Domain) > 0 }

// MailServer returns the address of the mail server, nil if there is none.
func (c *Config) MailServer() *url.URL {
	server, err := url.Parse(c.SMTPURL)
	if err != nil || c.SMTPURL == "" {
		return nil
	}
	return server
}
