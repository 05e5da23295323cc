package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/cmd/sluice/view"
	"sluice/serve"
)

// noon is when the things in these tests are looked at.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.FixedZone("CET", 3600))

// TestWhatPeopleSee compares what people see with files: UPDATE_GOLDEN=1 writes
// them anew.
func TestWhatPeopleSee(t *testing.T) {
	for name, test := range map[string]struct {
		v       view.View
		columns []view.Column
	}{
		"calls":      {view.View{Width: 100}, view.CallColumns},
		"calls-wide": {view.View{}, view.CallColumns},
		"call":       {view.View{}, nil},
		"webhooks":   {view.View{Width: 60}, webhookResource(&terminal{commands: serve.Commands()}).columns},
		"webhook":    {view.View{}, nil},
		"colours":    {view.View{Colour: true, Tokens: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := test.v
			v.Now, v.Zone = noon, noon.Location()
			document, err := os.ReadFile(filepath.Join("testdata", "seen", strings.TrimSuffix(name, "-wide")+".json"))
			if err != nil {
				t.Fatal(err)
			}
			root, err := view.Parse(document)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			switch {
			case name == "call":
				err = v.Call(&got, root, nil)
			case test.columns != nil:
				err = v.Rows(&got, root.Content, test.columns, "")
			default:
				err = v.Account(&got, root, "")
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
