package limit

import "testing"

// TestAvailable: the container's memory counts, and without one half of the machine's.
func TestAvailable(t *testing.T) {
	for name, test := range map[string]struct {
		machine, contained uint64
		want               int64
	}{
		"a machine":                      {16 << 30, 0, 8 << 30},
		"a small machine":                {3 << 30, 0, 2 << 30},
		"a tiny machine":                 {1 << 30, 0, 768 << 20},
		"a system that does not tell":    {0, 0, 2 << 30},
		"a container":                    {16 << 30, 512 << 20, 512 << 20},
		"a container of which only that": {0, 512 << 20, 512 << 20},
		"more than the machine has":      {8 << 30, 64 << 30, 4 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			if got := availableOf(test.machine, test.contained); got != test.want {
				t.Errorf("there are %d MiB, want %d", got>>20, test.want>>20)
			}
		})
	}
	if Available() <= 0 {
		t.Error("there is no memory")
	}
}
