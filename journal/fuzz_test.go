package journal

import (
	"bytes"
	"testing"
)

// FuzzPosition: a position is what a tail has given out, or it is refused.
func FuzzPosition(f *testing.F) {
	for _, text := range []string{"1.0-1.0", "12.3-4.56", "1.0-1.0x", " 1.0-1.0", "+1.0-1.0", "01.0-1.0", "1.-1-1.0", "18446744073709551616.0-1.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		both := followers{new(follower), new(follower)}
		if err := both.seek(text); err == nil && both.position() != text {
			t.Errorf("%q is taken for %q", text, both.position())
		}
	})
}

// FuzzLines: whatever is in a message, its lines are parts of it.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"", "c1z {}\n", "c1z {}\nr0 {\"a\":1}\n", "c {}\n", "x\n", "cé {}", "c-1 {}\n", "\n\n", "c1 "} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range parseLines(data) {
			if !bytes.Contains(data, l.data) || bytes.ContainsRune(l.data, '\n') {
				t.Errorf("%q is no line of %q", l.data, data)
			}
		}
	})
}
