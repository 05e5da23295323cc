package serve_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/serve"
)

// TestOpenFoldersAndKeysAreToldOf, and those that are private are not.
func TestOpenFoldersAndKeysAreToldOf(t *testing.T) {
	t.Parallel()
	data := newFolder(t)
	told := func(folder, key os.FileMode) string {
		t.Helper()
		for name, mode := range map[string]os.FileMode{data: folder, filepath.Join(data, "secret.key"): key} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		s, err := serve.Start(t.Context(), load(t, data), serve.Options{AdminPassword: adminPassword, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if log := told(0o700, 0o600); strings.Contains(log, "Every user of this machine") {
		t.Errorf("the log has %s", log)
	}
	log := told(0o777, 0o644)
	for _, want := range []string{"can write in the data folder", "can read a key"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
}
