package damage

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/durable"
	"sluice/value"
)

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

// RemoveStop removes the note, and returns what ReadStop does.
func (s Store) RemoveStop(note string) (clean bool, changed []Loss, err error) {
	clean, changed, err = s.ReadStop(note)
	if err != nil {
		return false, nil, err
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil, err
	}
	return clean, changed, durable.Sync(filepath.Dir(note))
}

// ReadStop reports whether the engine has stopped cleanly, and returns the blocks that have changed
// since.
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
	for name, size := range sizes {
		problem, err := s.change(name, size)
		if err != nil {
			return false, changed, err
		}
		if problem != "" {
			changed = append(changed, Loss{Stream: filepath.Dir(filepath.Dir(name)), File: name, Problem: problem})
		}
	}
	return len(changed) == 0, changed, nil
}

// change says in what a block differs from one that had a size, "" if in nothing that is seen soon.
func (s Store) change(name string, size int64) (problem string, err error) {
	file, err := os.Open(filepath.Join(s.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "the block is missing", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() != size {
		return "the block has another size than when the server stopped", err
	}
	var head [headSize]byte
	n, err := file.ReadAt(head[:], 0)
	switch {
	case errors.Is(err, io.EOF): // too short for a message
		return "", nil
	case n == len(head) && head == [headSize]byte{}:
		return "the block is full of zeros", nil
	}
	return "", err
}
