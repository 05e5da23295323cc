package wording

import (
	"testing"
	"time"
)

func TestWording(t *testing.T) {
	t.Parallel()
	noon := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) string { return Ago(noon, noon.Add(-d)) }
	for _, test := range []struct{ got, want string }{
		{ago(0), "now"}, {ago(-500 * time.Millisecond), "now"}, {ago(42 * time.Second), "42s ago"},
		{ago(59*time.Minute + 59*time.Second), "59m ago"}, {ago(5 * time.Hour), "5h ago"}, {ago(47 * time.Hour), "1d ago"},
		{ago(40 * 24 * time.Hour), "2029-12-22"}, {ago(-3 * time.Minute), "in 3m"},

		{Duration(0), "0"}, {Duration(35 * time.Microsecond), "35µs"}, {Duration(8911 * time.Microsecond), "8.9ms"},
		{Duration(120_400 * time.Microsecond), "120ms"}, {Duration(1500 * time.Millisecond), "1.5s"}, {Duration(123 * time.Second), "2m3s"},

		{Bytes(-1), "unknown"}, {Bytes(8), "8 B"}, {Bytes(999), "999 B"}, {Bytes(1500), "1.5 kB"}, {Bytes(512_000), "512 kB"},
		{Bytes(4_194_304), "4.2 MB"}, {Bytes(8.1e10), "81 GB"}, {Bytes(int64(7e16)), "70000 TB"},

		{Count(12), "12"}, {Count(999), "999"}, {Count(1_234_567), "1,234,567"},
		{Plural(0, "step", "steps"), "0 steps"}, {Plural(1, "step", "steps"), "1 step"}, {Plural(1200, "step", "steps"), "1,200 steps"},
		{Times(1), "once"}, {Times(3), "3 times"}, {Times(1200), "1,200 times"},
	} {
		if test.got != test.want {
			t.Errorf("%q is said, want %q", test.got, test.want)
		}
	}
}
