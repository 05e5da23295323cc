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

// RemoveStop reports whether the engine has stopped cleanly, and removes the note. It
// returns the blocks that have changed since.
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

// ReadStop returns the same as RemoveStop, and leaves the note.
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
