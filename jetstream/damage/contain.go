package damage

import (
	"bytes"
	"os"
	"path/filepath"

	"sluice/durable"
)

// cut cuts out of a block only what can't be read: the engine would cut off the rest of the block
// with it.
func (s Store) cut(f blockFile, b *block) error {
	whole := b.whole()
	if len(whole) > 0 && bytes.HasPrefix(b.content, whole) { // the engine cuts off the same
		whole = b.content
	}
	if err := s.replace(f.name, b.content, whole); err != nil {
		return err
	}
	// The index describes the block as it was.
	if err := os.Remove(filepath.Join(s.Dir, filepath.Dir(f.name), "index.db")); !os.IsNotExist(err) {
		return err
	}
	return nil
}

// replace sets a copy of a file of the store aside, and replaces or removes the file.
func (s Store) replace(name string, content, by []byte) error {
	aside := filepath.Join(s.aside, name)
	if err := os.MkdirAll(filepath.Dir(aside), 0o700); err != nil {
		return err
	}
	if err := durable.WriteFile(aside, content); err != nil {
		return err
	}
	if by == nil {
		return os.Remove(filepath.Join(s.Dir, name))
	}
	return durable.WriteFile(filepath.Join(s.Dir, name), by)
}
