package serve_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"sluice/serve"
)

func TestLog(t *testing.T) {
	for name, test := range map[string]struct{ level, format, want string }{
		"JSON in a file":            {"info", "auto", `^\{"time":"[^"]+","level":"INFO","msg":"in","n":1\}\n\{"time":"[^"]+","level":"WARN","msg":"wa"\}\n$`},
		"JSON, and only what warns": {"warn", "json", `^\{"time":"[^"]+","level":"WARN","msg":"wa"\}\n$`},
		"text, without colours":     {"debug", "text", `^\S+T\S+ DBG de\n\S+ INF in n=1\n\S+ WRN wa\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			log, flush := serve.NewLog(out, test.level, test.format)
			log.Debug("de")
			log.Info("in", "n", 1)
			log.Warn("wa")
			flush()
			got, err := os.ReadFile(path)
			if err != nil || !regexp.MustCompile(test.want).Match(got) {
				t.Errorf("%v: the log is\n%s", err, got)
			}
		})
	}
}

// TestTheLogShowsWhatItSays: what a caller sends can't forge lines, control a terminal or
// turn the direction of text.
func TestTheLogShowsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			log, flush := serve.NewLog(out, "debug", format)
			s := &service{t: t, config: load(t, newFolder(t), untilDone, "audit-log=true"), log: new(transcript), client: newClient()}
			if s.server, err = serve.Start(t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: log, AuditLog: out}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.stop)
			if _, _, err := s.server.CreateAdmin(t.Context()); err != nil {
				t.Fatal(err)
			}
			const hostile = "a\u202eb\u2028c\u2066d\u200be\u009b31m\U000e0041f\x1b[31m\x00\x7f\ng"
			hook := s.create("webhook.hostile", "payloadType", "raw")
			s.store("logs", "pipeline: [event.listen: {eventKey: webhook.hostile}, log: {message: '#{body.payload}'}, log: {message: said, body: '#{body.payload}'}, fail: {message: '#{body.payload}'}]")
			s.call(hook, "text/plain", hostile).wantStatus(t, 200)
			s.send("GET", "/api/v3/command/iam.whoami", nil, func(r *http.Request) { r.SetBasicAuth(hostile, hostile) }).wantStatus(t, 401)
			s.send("GET", "/"+url.PathEscape("\u202e"), nil)
			s.stop()
			flush()
			got, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(got), `\u202e`) {
				t.Fatalf("%v: what was said is not in the log:\n%s", err, got)
			}
			for line := range strings.Lines(string(got)) {
				for _, r := range strings.TrimSuffix(line, "\n") {
					if !unicode.IsPrint(r) {
						t.Errorf("%U is in the log: %q", r, line)
					}
				}
			}
		})
	}
}
