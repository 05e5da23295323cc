package jetstream

import (
	"bytes"
	"os"
	"path/filepath"
)

// dropUnreadable removes the states of consumers that a power cut has left full
// of zeros, before the engine starts: it would refuse the consumers for ever.
func dropUnreadable(dir string) (dropped int, err error) {
	states, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "*", "obs", "*", "o.dat"))
	if err != nil {
		return 0, err
	}
	for _, state := range states {
		content, err := os.ReadFile(state)
		if err != nil {
			return dropped, err
		}
		if len(content) == 0 || len(bytes.Trim(content, "\x00")) > 0 {
			continue
		}
		if err := os.Remove(state); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}
