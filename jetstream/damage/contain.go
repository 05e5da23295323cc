package damage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/durable"
	"sluice/value"
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

// NoteStop notes that the engine has stopped cleanly, with the sizes of its files.
func (s Store) NoteStop(note string) error {
	files, _, err := s.blocks()
	if err != nil {
		return err
	}
	sizes := make(map[string]int64, len(files))
	for _, f := range files {
		sizes[f.name] = f.size
	}
	text, err := value.Marshal(sizes)
	if err != nil {
		return err
	}
	return durable.WriteFile(note, text)
}

// TakeStop reports whether the engine has stopped cleanly, and removes the note. It
// returns the blocks that have changed since.
func (s Store) TakeStop(note string) (clean bool, changed []Loss, err error) {
	clean, changed, err = s.ReadStop(note)
	if err != nil {
		return false, nil, err
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil, err
	}
	return clean, changed, durable.Sync(filepath.Dir(note))
}

// ReadStop returns the same as TakeStop, and leaves the note.
func (s Store) ReadStop(note string) (clean bool, changed []Loss, err error) {
	text, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	var sizes map[string]int64
	if json.Unmarshal(text, &sizes) != nil {
		return false, nil, nil //nolint:nilerr // a note that can't be read says nothing
	}
	changed, err = s.changed(sizes)
	return err == nil && len(changed) == 0, changed, err
}

// changed returns the blocks that differ from the note of a clean stop.
func (s Store) changed(sizes map[string]int64) (changed []Loss, err error) {
	for name, size := range sizes {
		l := Loss{Stream: filepath.Dir(filepath.Dir(name)), File: name}
		info, err := os.Stat(filepath.Join(s.Dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.Problem = "the block is missing"
		case err != nil:
			return changed, err
		case info.Size() != size:
			l.Problem = "the block has another size than when the server stopped"
		default:
			zeros, err := beginsWithZeros(filepath.Join(s.Dir, name))
			if err != nil {
				return changed, err
			}
			if !zeros {
				continue
			}
			l.Problem = "the block is full of zeros"
		}
		changed = append(changed, l)
	}
	return changed, nil
}

func beginsWithZeros(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var head [headSize]byte
	switch _, err := io.ReadFull(f, head[:]); err {
	case nil:
		return head == [headSize]byte{}, nil
	case io.EOF, io.ErrUnexpectedEOF: // too short for a message
		return false, nil
	default:
		return false, err
	}
}
