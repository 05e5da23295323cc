package jetstream

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice"
	"sluice/jetstream/stream"
)

// TestADamagedBlockIsNoticed: a flipped bit is reported, whether the engine cuts the block off
// at its start or finds it when the event is read.
func TestADamagedBlockIsNoticed(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"after a clean stop": false, "after a kill": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e := openEngine(t, Options{Dir: dir})
			var ids []string
			for i := range 20 {
				ids = append(ids, accept(t, e, fmt.Sprintf("abcdef:%010d", i)))
			}
			if err := e.writeWatermarks(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.Close()
			blocks := filepath.Join(dir, "jetstream", "$G", "streams", stream.Events, "msgs")
			flipBit(t, filepath.Join(blocks, "1.blk"), "abcdef:0000000007")
			if killed {
				if err := os.Remove(filepath.Join(blocks, "index.db")); err != nil {
					t.Fatal(err)
				}
			}
			e = openEngine(t, Options{Dir: dir})
			_, err := e.Results.Result(t.Context(), ids[7], 0)
			if !killed && sluice.AsError(err).Code != "event-damaged" {
				t.Errorf("the damaged event gives %v", err)
			}
			if warnings := strings.Join(e.Warnings(), ""); !strings.Contains(warnings, "lost") {
				t.Errorf("the warnings are %q", warnings)
			}
		})
	}
}

func flipBit(t *testing.T, file, near string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[bytes.Index(content, []byte(near))] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsDamagedIsSetAside before the engine cuts it off.
func TestWhatIsDamagedIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	for i := range 20 {
		accept(t, e, fmt.Sprintf("abcdef:%010d", i))
	}
	e.Close()
	pretendKill(t, dir)
	file := blockOf(dir, stream.Events, 1)
	harms["flipped"](t, file)
	want, err := os.ReadFile(file)
	check(t, err)
	openEngine(t, Options{Dir: dir})
	copies, err := filepath.Glob(filepath.Join(dir, "damaged", "*", stream.Events, "msgs", "1.blk"))
	check(t, err)
	if len(copies) != 1 {
		t.Fatalf("set aside are %v", copies)
	}
	if got, err := os.ReadFile(copies[0]); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what is set aside is not what was there (%v)", err)
	}
}
