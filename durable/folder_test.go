package durable_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/durable"
)

// TestFolder: a folder is made, has one server, and keeps what was made once.
func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	first, err := durable.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.OpenFolder(path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server is told %v", err)
	}
	for _, made := range []string{"one", "another"} {
		if got, err := first.Content("name", func() string { return made }); err != nil || got != "one" {
			t.Errorf("the file has %q (%v), want what was made first", got, err)
		}
	}
	first.Close()
	again, err := durable.OpenFolder(path)
	if err != nil {
		t.Fatalf("the folder was given back, but: %v", err)
	}
	again.Close()
}

// TestOtherFormats: a folder of another format is refused, older or newer, and
// left as it is.
func TestOtherFormats(t *testing.T) {
	for _, other := range []string{"0", "1", "3", "999", "1x", ""} {
		path := t.TempDir()
		file := filepath.Join(path, "format")
		if err := os.WriteFile(file, []byte(other+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := durable.OpenFolder(path); err == nil || !strings.Contains(err.Error(), "format") {
			t.Errorf("format %q: %v", other, err)
		}
		if content, _ := os.ReadFile(file); string(content) != other+"\n" {
			t.Errorf("format %q was changed to %q", other, content)
		}
	}
}

// TestALostFormat: a folder with a store in it is not taken for a new one.
func TestALostFormat(t *testing.T) {
	path := t.TempDir()
	if _, err := durable.OpenExisting(path); err == nil || !strings.Contains(err.Error(), "no data folder") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(path, "engine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.OpenFolder(path); err == nil || !strings.Contains(err.Error(), "format") {
		t.Errorf("a folder without a format: %v", err)
	}
}
