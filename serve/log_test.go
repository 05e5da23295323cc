package serve_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

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
