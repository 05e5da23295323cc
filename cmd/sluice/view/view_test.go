package view

import (
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"sluice/wording"
)

// noon is when the things in these tests are looked at.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.FixedZone("CET", 3600))

func TestTimesAgo(t *testing.T) {
	v := View{Now: noon, Zone: noon.Location()}
	for ago, want := range map[time.Duration]string{
		0: "now", -500 * time.Millisecond: "now", 42 * time.Second: "42s ago", 3 * time.Minute: "3m ago",
		59*time.Minute + 59*time.Second: "59m ago", 5 * time.Hour: "5h ago", 47 * time.Hour: "1d ago",
		40 * 24 * time.Hour: "2029-12-22", -3 * time.Minute: "in 3m",
	} {
		if got := v.ago(noon.Add(-ago)); got != want {
			t.Errorf("%s ago is %q, want %q", ago, got, want)
		}
	}
}

// TestColumnsKeepTheirOrder: it does not depend on which row has a field first.
func TestColumnsKeepTheirOrder(t *testing.T) {
	const want = "PIPELINE OLDEST LETTERS SINCE CAUSE"
	for _, rows := range []string{
		`[{"pipeline":"a","letters":1,"cause":"x"},{"pipeline":"b","oldest":1,"letters":1,"since":1,"cause":"x"}]`,
		`[{"pipeline":"b","oldest":1,"letters":1,"since":1,"cause":"x"},{"pipeline":"a","letters":1}]`,
	} {
		root, err := Parse([]byte(rows))
		if err != nil {
			t.Fatal(err)
		}
		var out View
		out.Rows(root.Content, nil, "")
		head, _, _ := strings.Cut(out.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != want {
			t.Errorf("the columns of %s are %s", rows, got)
		}
	}
}

// TestStepsAreSentences: how a sender is set up is written without the quotes of YAML.
func TestStepsAreSentences(t *testing.T) {
	root, err := Parse([]byte(`{"setup":["In the dashboard: choose.","Then \"save\"."]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out View
	out.Account(root, "")
	if got := out.String(); !strings.HasSuffix(got, "  1. In the dashboard: choose.\n  2. Then \"save\".\n") {
		t.Errorf("it is %q", got)
	}
}

func TestNumbersHaveUnits(t *testing.T) {
	for number, want := range map[float64]string{0: "0", 0.035: "35µs", 8.911: "8.9ms", 120.4: "120ms", 1500: "1.5s", 123_000: "2m3s"} {
		if got := Milliseconds(number); got != want {
			t.Errorf("%v ms is %q, want %q", number, got, want)
		}
	}
	for number, want := range map[float64]string{-1: "unknown", 8: "8 B", 512_000: "512 kB", 4_194_304: "4.2 MB", 8.1e10: "81 GB"} {
		if got := wording.Bytes(number); got != want {
			t.Errorf("%v bytes are %q, want %q", number, got, want)
		}
	}
}

func TestTextsAreCutToTheirWidth(t *testing.T) {
	for _, text := range []string{"short", "a longer text than that", "日本語のテキスト", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", ""} {
		got := cut(text, 8)
		if width := uniseg.StringWidth(got); width > 8 || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q becomes %q, which is %d wide", text, got, width)
		}
	}
}
