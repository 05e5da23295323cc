package terminal

import (
	"strings"
	"testing"
)

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
