package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/serve"
)

// The reference of all commands is generated: UPDATE_GOLDEN=1 go test ./... writes it anew.
func TestTheReferenceIsUpToDate(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "docs", "reference", "commands.md")
	want := serve.Commands().Reference()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the commands say; run UPDATE_GOLDEN=1 go test ./...", name)
	}
	for line := range strings.Lines(want) {
		if strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("it does not say what this is: %s", line)
		}
	}
}
