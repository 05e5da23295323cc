package webhook

import (
	"testing"
	"time"

	"sluice"
)

func TestRedactedPaths(t *testing.T) {
	for _, path := range []string{"payload.a", "payload[*].a", "payload.a.b[*][*].c", "headers.X-A", "query.ü"} {
		if _, err := redactionsOf([]string{path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"", "payload", "payload.", "payload..a", "payload.a[0]", "headers", "headers.a.b", "body.a", "payload.a]"} {
		if _, err := redactionsOf([]string{path}); err == nil {
			t.Errorf("%q is taken", path)
		}
	}
	for kind, ok := range map[sluice.PayloadType]bool{sluice.Base64: false, sluice.Raw: true, sluice.Ignore: true} {
		if err := checkRedact(&sluice.Webhook{PayloadType: kind, Settings: sluice.Settings[time.Duration]{Redact: []string{"payload.a"}}}); (err == nil) != ok {
			t.Errorf("with %s: %v", kind, err)
		}
	}
}
