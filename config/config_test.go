package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/config"
)

func writeFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLaterSourcesWin(t *testing.T) {
	file := writeFile(t, "listen: 127.0.0.1:1\nresult-ttl: 1m\nnamespace: from-file\ntrusted-proxies: [10.0.0.0/8, 192.0.2.1]\nmin-free-disk: 2GiB\n")
	environ := []string{"SLUICE_LISTEN=127.0.0.1:2", "SLUICE_RESULT_TTL=2m", "SLUICE_DATA=", "SLUICE_ADMIN_PASSWORD=x", "SLUICE_URL=http://x", "SLUICE_TOKEN=y", "SLUICE_CLIENT_ID=ci", "SLUICE_CLIENT_SECRET=z", "SLUICE_NEW_SECRET_KEY=k", "SLUICE_BACKUP_PASSPHRASE=p", "HOME=/root"}
	c, err := config.Load(file, environ, map[string]string{"listen": "127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:3" || c.ResultTTL != 2*time.Minute || c.Namespace != "from-file" || c.Data != "./data" {
		t.Errorf("got listen %s, result-ttl %s, namespace %s, data %s", c.Listen, c.ResultTTL, c.Namespace, c.Data)
	}
	if len(c.TrustedProxies) != 2 || c.TrustedProxies[1].String() != "192.0.2.1/32" || c.MinFreeDisk != 2<<30 {
		t.Errorf("got trusted-proxies %v, min-free-disk %d", c.TrustedProxies, c.MinFreeDisk)
	}
}

func TestDefaults(t *testing.T) {
	c, err := config.Load("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8080" || c.Data != "./data" || c.Namespace != "default" || c.ResultWait != 300*time.Millisecond || c.ResultTTL != time.Hour || c.MinFreeDisk != 512<<20 {
		t.Errorf("got %+v", c)
	}
}

func TestWrongSettingsAreNamedInOneLine(t *testing.T) {
	tests := map[string]struct {
		file    string
		environ []string
		flags   map[string]string
		want    string
	}{
		"unknown in the file":        {file: "\nlissten: x\n", want: "sluice.yaml:2:1: lissten: there is no such setting; did you mean listen?"},
		"a bad value in the file":    {file: "result-ttl: soon\n", want: `sluice.yaml:1:1: result-ttl: "soon" is not a duration`},
		"a map in the file":          {file: "listen: {a: b}\n", want: "sluice.yaml:1:1: listen: expected a value"},
		"a file that is no map":      {file: "- listen\n", want: "sluice.yaml:1:1: expected settings"},
		"two documents in the file":  {file: "listen: 127.0.0.1:1\n---\ndata: x\n", want: "sluice.yaml:2:1: a second document starts here"},
		"more behind a whole map":    {file: "{}\ndata: x\n", want: "sluice.yaml: yaml: line 1: did not find expected <document start>"},
		"unknown in the environment": {environ: []string{"SLUICE_LISTNE=x"}, want: "SLUICE_LISTNE: there is no such setting; did you mean listen?"},
		"not a number":               {flags: map[string]string{"max-in-flight": "many"}, want: `--max-in-flight: "many" is not a whole number`},
		"not positive":               {flags: map[string]string{"max-in-flight": "0"}, want: "max-in-flight: must be positive"},
		"not a size":                 {flags: map[string]string{"min-free-disk": "1TB"}, want: `--min-free-disk: "1TB" is not a size`},
		"too large a size":           {flags: map[string]string{"min-free-disk": "9223372036854775807GiB"}, want: "is not a size"},
		"not a network":              {flags: map[string]string{"trusted-proxies": "10.0.0.0/99"}, want: "is not an address or a network"},
		"not an address":             {flags: map[string]string{"listen": "8080"}, want: `listen: "8080" is not host:port`},
		"an issuer that is no URL":   {flags: map[string]string{"auth-issuer": "login.example.org", "auth-client-id": "x"}, want: "auth-issuer: must be the http"},
		"a relative URL":             {flags: map[string]string{"public-url": "hooks.example.org"}, want: "public-url: must be http"},
		"twice in the file":          {file: "listen: 127.0.0.1:1\ndata: x\nlisten: 127.0.0.1:2\n", want: "sluice.yaml:3:1: listen: it is there twice"},
		"not a header":               {flags: map[string]string{"redact-headers": "x-a, x:b"}, want: `--redact-headers: "x:b" is not the name of a header`},
		"not an origin":              {flags: map[string]string{"cors-origins": "https://app.example.org/path"}, want: `--cors-origins: "https://app.example.org/path" is not an origin`},
		"any origin":                 {flags: map[string]string{"cors-origins": "*"}, want: "is not an origin"},
		"neither yes nor no":         {flags: map[string]string{"audit-log": "perhaps"}, want: `--audit-log: "perhaps" is neither true nor false`},
		"two keys":                   {flags: map[string]string{"secret-key": "x", "secret-key-file": "y"}, want: "secret-key and secret-key-file: give one"},
		"not an engine":              {flags: map[string]string{"nats": "http://x", "secret-key": "x"}, want: "nats: must be addresses"},
		"an engine without a host":   {flags: map[string]string{"nats": "nats://a:1,nats://", "secret-key": "x"}, want: "nats: must be addresses"},
		"less than no wait":          {flags: map[string]string{"drain-wait": "-1s"}, want: "must not be negative"},
		"too little memory":          {flags: map[string]string{"memory-limit": "64MiB"}, want: "memory-limit: must be at least 128MiB"},
		"no room for a run":          {flags: map[string]string{"max-run-memory": "8MiB"}, want: "max-run-memory: must be at least 16MiB"},
		"no room for a body":         {flags: map[string]string{"max-body-memory": "1MiB"}, want: "max-body-memory: must be at least 4MiB"},
		"no folder":                  {file: "data:\n", want: "data: needs a folder"},
		"a certificate, no key":      {flags: map[string]string{"tls-cert": "x"}, want: "tls-cert and tls-key: give both"},
		"a bad namespace":            {flags: map[string]string{"namespace": "Über"}, want: "namespace:"},
		"an unknown log level":       {flags: map[string]string{"log-level": "loud"}, want: `log-level: "loud" is none of debug, info, warn, error`},
		"an unknown log format":      {flags: map[string]string{"log-format": "xml"}, want: `log-format: "xml" is none of`},
		"an unknown proxy's header":  {flags: map[string]string{"forwarded-header": "x-real-ip"}, want: `forwarded-header: "x-real-ip" is none of x-forwarded-for, forwarded`},
		"a former flag":              {flags: map[string]string{"idle-timeout": "1m"}, want: "--idle-timeout: there is no such setting any more: an idle connection stays open for 2 minutes; leave it out"},
		"a former variable":          {environ: []string{"SLUICE_PASSWORD_CORES=2"}, want: "SLUICE_PASSWORD_CORES: there is no such setting any more: half of the cores check passwords; leave it out"},
		"a former key":               {file: "max-in-flight-per-user: 9\n", want: "sluice.yaml:1:1: max-in-flight-per-user: there is no such setting any more: one user may have an eighth of --max-in-flight; leave it out"},
		"too many replicas":          {flags: map[string]string{"nats-replicas": "9"}, want: "nats-replicas: 9 is not from 1 to 5"},
		"a provider's client, no provider": {
			flags: map[string]string{"auth-client-id": "x"}, want: "auth-client-id: needs auth-issuer",
		},
		"a provider's secret, no provider": {
			environ: []string{"SLUICE_AUTH_CLIENT_SECRET=x"}, want: "auth-client-secret: needs auth-issuer",
		},
		"a provider's audience, no provider": {
			file: "auth-audience: x\n", want: "auth-audience: needs auth-issuer",
		},
		"a provider's roles, no provider": {
			flags: map[string]string{"auth-roles-claim": "groups"}, want: "auth-roles-claim: needs auth-issuer",
		},
		"a provider's names, no provider": {
			flags: map[string]string{"auth-username-claim": "email"}, want: "auth-username-claim: needs auth-issuer",
		},
		"a provider, no client": {
			flags: map[string]string{"auth-issuer": "https://idp.example.org"}, want: "auth-client-id: needed with auth-issuer",
		},
		"events shorter than results": {
			flags: map[string]string{"event-max-age": "1m"}, want: "event-max-age: must be at least result-ttl",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := ""
			if test.file != "" {
				file = writeFile(t, test.file)
			}
			_, err := config.Load(file, test.environ, test.flags)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, test.want)
			}
		})
	}
}
