package webhook

import (
	"fmt"
	"strings"
	"testing"

	"sluice"
	"sluice/webhook/trust"
)

// TestTagsNameTheLimits: what callers read about a payload's length is what counts.
func TestTagsNameTheLimits(t *testing.T) {
	t.Parallel()
	for _, p := range new(putParams).Rows() {
		switch p.Name {
		case "maxPayloadLength":
			if *p.Max != sluice.MaxPayloadLength {
				t.Errorf("the largest value is %d", *p.Max)
			}
			if !strings.Contains(p.Doc, fmt.Sprintf("otherwise %d;", sluice.DefaultPayloadLength)) {
				t.Errorf("the default is another one than in %q", p.Doc)
			}
		case "schema":
			if !strings.Contains(p.Doc, fmt.Sprintf("up to %d KiB", trust.MaxSchema>>10)) {
				t.Errorf("the largest schema is another one than in %q", p.Doc)
			}
		}
	}
}
