package damage

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
)

// DropConsumers sets aside the states of consumers that can't be read: the engine
// would refuse these consumers for ever. Without a state they start over.
func (s Store) DropConsumers() (dropped []string, err error) {
	names, err := s.BadConsumers()
	for _, name := range names {
		if err := s.setAside(name); err != nil {
			return dropped, err
		}
		if err := os.Remove(filepath.Join(s.Dir, name)); err != nil {
			return dropped, err
		}
		dropped = append(dropped, name)
	}
	return dropped, err
}

// BadConsumers returns the states of consumers that can't be read.
func (s Store) BadConsumers() (names []string, err error) {
	folder := os.DirFS(s.Dir)
	states, err := fs.Glob(folder, "*/obs/*/o.dat")
	for _, name := range states {
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return names, err
		}
		if len(content) > 0 && !readable(content) { // an empty state is that of a consumer that has not begun
			names = append(names, name)
		}
	}
	return names, err
}

// readable reports whether the engine can read the state of a consumer.
func readable(state []byte) bool {
	const magic, version = 22, 2
	if len(state) < 2 || state[0] != magic || state[1] != version {
		return false
	}
	r := varints{state[2:], true}
	for range 2 { // acknowledged and delivered, each by the consumer's count and by the stream's
		r.unsigned()
		if r.unsigned()>>63 != 0 {
			return false
		}
	}
	if pending := r.unsigned(); pending > 0 {
		r.signed() // since when
		for i := uint64(0); i < pending && r.ok; i++ {
			r.unsigned()
			r.unsigned()
			r.signed()
		}
	}
	for i, redelivered := uint64(0), r.unsigned(); i < redelivered && r.ok; i++ {
		r.unsigned()
		r.unsigned()
	}
	return r.ok
}

// varints reads numbers. ok is false once one is cut off.
type varints struct {
	rest []byte
	ok   bool
}

func (v *varints) unsigned() uint64 {
	number, n := binary.Uvarint(v.rest)
	v.advance(n)
	return number
}

func (v *varints) signed() {
	_, n := binary.Varint(v.rest)
	v.advance(n)
}

func (v *varints) advance(n int) {
	if n <= 0 {
		v.ok, v.rest = false, nil
		return
	}
	v.rest = v.rest[n:]
}
