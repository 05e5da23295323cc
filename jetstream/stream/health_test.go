package stream

import (
	"log/slog"
	"math"
	"strings"
	"testing"

	"sluice"
	"sluice/durable"
)

// TestShortage: files count as space, unless the file system has no bound for them.
func TestShortage(t *testing.T) {
	for says, free := range map[string]durable.Space{
		"":                 {Bytes: 100, Files: minFreeFiles},
		"below the config": {Bytes: 99, Files: math.MaxInt64},
		"inodes":           {Bytes: math.MaxInt64, Files: minFreeFiles - 1},
	} {
		if got := shortage(free, 100); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("of %+v it says %q, want %q", free, got, says)
		}
	}
}

// TestTooLittleSpaceRefuses and says what there is too little of.
func TestTooLittleSpaceRefuses(t *testing.T) {
	h := NewEmbedded(slog.New(slog.DiscardHandler), t.TempDir())
	h.SetReady()
	h.checkDisk(math.MaxInt64)
	err := h.Ready()
	wantKind(t, err, sluice.Unavailable)
	if sluice.AsError(err).Code != string(sluice.CodeDiskFull) || !h.LowDisk() {
		t.Errorf("it says %v", err)
	}
	h.checkDisk(0)
	if err := h.Ready(); err != nil || h.LowDisk() {
		t.Errorf("with enough space it says %v", err)
	}
}
