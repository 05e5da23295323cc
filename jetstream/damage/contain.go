package damage

import (
	"os"
	"path/filepath"

	"sluice/durable"
)

// Contain cuts out of each block only what can't be read: the engine would cut off the
// rest of the block with it. A copy of the block is set aside.
func (s Store) Contain(contiguous func(stream string) bool, read func(done, total int64)) (losses []Loss, err error) {
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
		if err := s.containBlock(f); err != nil {
			return losses, err
		}
	}
	return losses, nil
}

func (s Store) containBlock(f blockFile) error {
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
	if err := s.setAside(f.name); err != nil {
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
func (s Store) setAside(name string) error {
	content, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		return err
	}
	copied := filepath.Join(s.aside, name)
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(copied, content)
}
