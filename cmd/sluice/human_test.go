package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"sluice/wording"
)

// noon is when the things in these tests are looked at.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.FixedZone("CET", 3600))

// TestWhatPeopleSee compares what people see with files: UPDATE_GOLDEN=1 writes
// them anew.
func TestWhatPeopleSee(t *testing.T) {
	for name, test := range map[string]struct {
		v       view
		columns []column
	}{
		"calls":      {view{width: 100}, callColumns},
		"calls-wide": {view{}, callColumns},
		"call":       {view{}, nil},
		"webhooks":   {view{width: 60}, resourceNamed("webhook").columns},
		"webhook":    {view{}, nil},
		"colours":    {view{colour: true, tokens: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := test.v
			v.now, v.zone = noon, noon.Location()
			document, err := os.ReadFile(filepath.Join("testdata", "seen", strings.TrimSuffix(name, "-wide")+".json"))
			if err != nil {
				t.Fatal(err)
			}
			root, err := parseJSON(document)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			switch {
			case name == "call":
				err = v.call(&got, root, nil)
			case test.columns != nil:
				err = v.rows(&got, root.Content, test.columns, "")
			default:
				err = v.account(&got, root, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "seen", name+".txt"), got.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestTimesAgo(t *testing.T) {
	v := view{now: noon, zone: noon.Location()}
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

func TestNumbersHaveUnits(t *testing.T) {
	for number, want := range map[float64]string{0: "0", 0.035: "35µs", 8.911: "8.9ms", 120.4: "120ms", 1500: "1.5s", 123_000: "2m3s"} {
		if got := milliseconds(number); got != want {
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

func TestTimesAsPeopleSayThem(t *testing.T) {
	for text, want := range map[string]string{
		"30m": "2030-01-31T10:30:00Z", "2h": "2030-01-31T09:00:00Z", "1d": "2030-01-30T11:00:00Z", "1w1d1h": "2030-01-23T10:00:00Z",
		"now": "2030-01-31T11:00:00Z", "today": "2030-01-30T23:00:00Z", "yesterday": "2030-01-29T23:00:00Z",
		"2030-01-01": "2029-12-31T23:00:00Z", "2030-01-01 12:00": "2030-01-01T11:00:00Z", "2030-01-01T12:00:00Z": "2030-01-01T12:00:00Z",
	} {
		got, err := parseMoment(text, noon)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: got %s, %v; want %s", text, got.UTC().Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "d", "1", "-1h", "1d-1h", "1x", "soon", "2030-13-01", "99999d"} {
		if got, err := parseMoment(text, noon); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	s := span{since: "1h", to: "now"}
	params := url.Values{}
	if err := s.set(params); err != nil || !params.Has("from") || !params.Has("to") {
		t.Errorf("got %v, %v", params, err)
	}
}

func TestBrowsers(t *testing.T) {
	for _, name := range []string{"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	for system, want := range map[string]string{"linux": "", "darwin": "open", "windows": "rundll32 url.dll,FileProtocolHandler"} {
		if got := strings.Join(browserCommand(system), " "); got != want {
			t.Errorf("%s: got %q, want %q", system, got, want)
		}
	}
	t.Setenv("DISPLAY", ":0")
	if got := browserCommand("linux"); len(got) != 1 || got[0] != "xdg-open" {
		t.Errorf("with a display: %q", got)
	}
	t.Setenv("BROWSER", "firefox --new-tab")
	if got := browserCommand("linux"); len(got) != 2 || got[0] != "firefox" {
		t.Errorf("with a browser of one's own: %q", got)
	}
}
