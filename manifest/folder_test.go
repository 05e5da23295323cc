package manifest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesHoldNobodyUp: what is no file is refused with its path, in place of a thing
// or of a folder, and also if a link leads there.
func TestPipesHoldNobodyUp(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"webhooks/webhook.y.yaml": "webhooks/webhook.y.yaml is not a file; move it away.",
		"webhooks/link.yaml":      "webhooks/link.yaml is not a file; move it away.",
		"webhooks":                "webhooks is not a folder; move it away.",
		"webhooks/pipe":           "",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "link.yaml" {
			if err := os.Symlink("pipe", path); err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(filepath.Dir(path), "pipe")
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("there are no pipes here:", err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, _, err := readFolder(root, resources(nil)[2]); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
