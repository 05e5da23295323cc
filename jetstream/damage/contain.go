package damage

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"sluice/durable"
)

// Contain cuts out of each block only what can't be read: the engine would cut off the
// rest of the block with it. A copy of the block is set aside.
func (s Store) Contain(aside string, contiguous func(stream string) bool, read func(done, total int64)) (losses []Loss, err error) {
	report, err := s.Read(contiguous, read)
	if err != nil {
		return nil, err
	}
	losses = report.Losses
	files, _, err := s.blocks()
	if err != nil {
		return nil, err
	}
	damaged := make(map[string]bool)
	for _, l := range losses {
		damaged[l.File] = true
	}
	for _, f := range files {
		if !damaged[f.name] {
			continue
		}
		if err := s.containBlock(aside, f); err != nil {
			return losses, err
		}
	}
	return losses, nil
}

func (s Store) containBlock(aside string, f blockFile) error {
	name := filepath.Join(s.Dir, f.name)
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b, err := newBlock(f.stream, f.number, content)
	if err != nil {
		return err
	}
	holes, records, _, _ := b.holes()
	if len(holes) == 0 {
		return nil // another block is missing
	}
	if err := s.setAside(aside, f.name); err != nil {
		return err
	}
	switch tail := holes[len(holes)-1]; {
	case records == 0:
		err = os.Remove(name)
	case len(holes) == 1 && tail.to == len(content): // the engine cuts off the same
	default:
		err = durable.WriteFile(name, b.without(holes))
	}
	if err != nil {
		return err
	}
	// The index describes the block as it was.
	if err := os.Remove(filepath.Join(filepath.Dir(name), "index.db")); !os.IsNotExist(err) {
		return err
	}
	return nil
}

// setAside copies a file of the store to another folder.
func (s Store) setAside(folder, name string) error {
	content, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		return err
	}
	copied := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(copied, content)
}

// DropConsumers sets aside the states of consumers that can't be read: the engine
// would refuse these consumers for ever. Without a state they start over.
func (s Store) DropConsumers(aside string) (dropped []string, err error) {
	names, err := s.BadConsumers()
	for _, name := range names {
		if err := s.setAside(aside, name); err != nil {
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
	states, err := filepath.Glob(filepath.Join(s.Dir, "*", "obs", "*", "o.dat"))
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		content, err := os.ReadFile(state)
		if err != nil {
			return names, err
		}
		if len(content) == 0 || readable(content) {
			continue // an empty state is that of a consumer that has not begun
		}
		name, err := filepath.Rel(s.Dir, state)
		if err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
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
	for i, again := uint64(0), r.unsigned(); i < again && r.ok; i++ {
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
	v.took(n)
	return number
}

func (v *varints) signed() {
	_, n := binary.Varint(v.rest)
	v.took(n)
}

func (v *varints) took(n int) {
	if n <= 0 {
		v.ok, v.rest = false, nil
		return
	}
	v.rest = v.rest[n:]
}
