package terminal

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Open opens a page of the portal, or prints its URL where there is no browser.
func (t *Terminal) Open(ctx context.Context, page string, item ...string) error {
	parts := append([]string{t.Server.URL() + page}, item...)
	for i, part := range item {
		parts[1+i] = url.PathEscape(part)
	}
	target := strings.Join(parts, "/")
	if browser := browserCommand(runtime.GOOS); browser != nil {
		t.Sayf("Opening %s", target)
		if _, err := StartBrowser(ctx, browser, target); err == nil {
			return nil
		}
	}
	_, err := fmt.Fprintln(t.Out, target)
	return err
}

// StartBrowser opens a page in a browser, which outlives ctx.
func StartBrowser(ctx context.Context, browser []string, target string) (*exec.Cmd, error) {
	//nolint:gosec // the person's own browser
	cmd := exec.CommandContext(context.WithoutCancel(ctx), browser[0], append(browser[1:], target)...)
	return cmd, cmd.Start()
}

// BrowserHere returns the command of a browser that can reach a port of this machine.
// In a session by SSH there is none, unless the person names one.
func BrowserHere() []string {
	if os.Getenv("BROWSER") == "" && (os.Getenv("SSH_CONNECTION") != "" || os.Getenv("SSH_TTY") != "") {
		return nil
	}
	return browserCommand(runtime.GOOS)
}

// browserCommand returns the command that starts a browser, nil without a display.
func browserCommand(system string) []string {
	switch own := strings.Fields(os.Getenv("BROWSER")); {
	case len(own) > 0:
		return own
	case system == "darwin":
		return []string{"open"}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}
