package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/durable"
)

// TestAFileIsNobodyElses: a draft that somebody has put there is not written to, a link in
// its place is not followed, and nothing but the file is left.
func TestAFileIsNobodyElses(t *testing.T) {
	dir := t.TempDir()
	victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "secret.key")
	plant := map[string]func() error{
		"a link":          func() error { return os.Symlink(victim, name+".new") },
		"a file":          func() error { return os.Link(victim, name+".new") }, // which its owner goes on reading
		"nothing":         func() error { return nil },
		"a link to none":  func() error { return os.Symlink(filepath.Join(dir, "none"), name+".new") },
		"an empty folder": func() error { return os.Mkdir(name+".new", 0o700) },
	}
	if err := os.WriteFile(victim, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, put := range plant {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if err := durable.WriteFile(name, []byte("key")); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got, err := os.ReadFile(victim); err != nil || string(got) != "before" {
			t.Errorf("%s: the other file has %q, %v", what, got, err)
		}
		if err := os.RemoveAll(name + ".new"); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(name + ".*"); err != nil || len(left) != 0 {
			t.Errorf("%s: it left %v, %v", what, left, err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: it is %v, %v", what, info.Mode(), err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != "key" {
			t.Errorf("%s: it has %q, %v", what, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a link to nothing was followed")
	}
}
