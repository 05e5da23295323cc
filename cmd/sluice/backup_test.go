package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"sluice/backup"
	"sluice/cmd/sluice/terminal"
)

// TestABackupIsWrittenToAFileOfItsOwn: what others have put into the folder under the
// name of an unfinished backup is neither followed nor written to, and a backup that
// fails leaves nothing.
func TestABackupIsWrittenToAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	if err == nil {
		err = w.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("before"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(victim)
	write(filepath.Join(dir, "planted.new"))
	if err := os.Symlink(victim, filepath.Join(dir, "linked.new")); err != nil {
		t.Skip("there are no links here:", err)
	}
	for _, name := range []string{"planted", "linked"} {
		c, name := &cli{Terminal: &terminal.Terminal{Err: os.Stderr}}, filepath.Join(dir, name)
		if _, err := c.save(name, bytes.NewReader(file.Bytes()[:file.Len()-1])); err == nil {
			t.Fatal("half a backup was saved")
		}
		if left, err := filepath.Glob(name + "*"); err != nil || len(left) != 1 {
			t.Errorf("there are %v, %v", left, err)
		}
		if _, err := c.save(name, bytes.NewReader(file.Bytes())); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s is %v, %v", name, info.Mode(), err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, file.Bytes()) {
			t.Errorf("%s has %q, %v", name, got, err)
		}
		if got, err := os.ReadFile(name + ".new"); err != nil || string(got) != "before" {
			t.Errorf("%s.new has %q, %v", name, got, err)
		}
	}
}
