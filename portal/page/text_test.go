package page

import (
	"testing"

	"sluice/wording"
)

func TestShownValues(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		wording.Bytes(999): "999 B", wording.Bytes(1500): "1.5 kB", wording.Bytes(512_000): "512 kB", wording.Bytes(int64(70e9)): "70 GB",
		wording.Count(1234567): "1,234,567", wording.Count(12): "12", Plural(1, "step", "steps"): "1 step", Plural(0, "step", "steps"): "0 steps",
		Shortened("<<<", 10): "<<\n… (3 B in all; the API returns all of it)", Clipped("äöü", 2): "ä…",
		Pretty(`["\u003cb\u003E \u0026 \\u003c \" \\\u003c"]`): "[\n  \"<b> & \\\\u003c \\\" \\\\<\"\n]", Pretty(`\u003c`): `\u003c`,
	} {
		if got != want {
			t.Errorf("%q is shown, want %q", got, want)
		}
	}
}
