package damage

import (
	"encoding/binary"
	"io/fs"
	"os"
)

// BadConsumers returns the states of consumers that can't be read. The engine would refuse these
// consumers for ever; with Cuts, they start over without a state.
func (s Store) BadConsumers() (names []string, err error) {
	folder := os.DirFS(s.Dir)
	states, err := fs.Glob(folder, "*/obs/*/o.dat")
	for _, name := range states {
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return names, err
		}
		if len(content) == 0 || readable(content) { // an empty state is that of a consumer that has not begun
			continue
		}
		if s.Cuts {
			if err := s.replace(name, content, nil); err != nil {
				return names, err
			}
		}
		names = append(names, name)
	}
	return names, err
}

// readable reports whether the engine can read the state of a consumer.
func readable(state []byte) bool {
	const magic, version = 22, 2
	if len(state) < 2 || state[0] != magic || state[1] != version {
		return false
	}
	rest, ok := state[2:], true
	advance := func(n int) {
		ok = ok && n > 0
		rest = rest[max(0, n):]
	}
	unsigned := func() uint64 {
		number, n := binary.Uvarint(rest)
		advance(n)
		return number
	}
	signed := func() {
		_, n := binary.Varint(rest)
		advance(n)
	}
	for range 2 { // acknowledged and delivered, each by the consumer's count and by the stream's
		unsigned()
		if unsigned()>>63 != 0 {
			return false
		}
	}
	if pending := unsigned(); pending > 0 {
		signed() // since when
		for i := uint64(0); i < pending && ok; i++ {
			unsigned()
			unsigned()
			signed()
		}
	}
	for i, redelivered := uint64(0), unsigned(); i < redelivered && ok; i++ {
		unsigned()
		unsigned()
	}
	return ok
}
