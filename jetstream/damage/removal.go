package damage

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sluice/durable"
)

// finishRemovals overwrites the messages that the engine was about to overwrite when it ended. It notes
// first that a message is removed, and by that note takes it for gone at its next start, with its bytes
// still there. It writes nothing else to the stream in between, so that such a note is the last record. The draft of
// a block that it was about to overwrite goes, too: the engine never looks at it again.
func (s Store) finishRemovals() error {
	drafts, err := fs.Glob(os.DirFS(s.Dir), "*/msgs/*.blk.tmp")
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		if err := os.Remove(filepath.Join(s.Dir, draft)); err != nil {
			return err
		}
	}
	s.Reads = nil
	files, _, err := s.blocks()
	if err != nil {
		return err
	}
	var space bytes.Buffer
	var stream string
	var removed uint64 // the message that is looked for in this block, or an earlier one; 0: none is
	for _, f := range slices.Backward(files) {
		if f.size == 0 || f.stream == stream && removed == 0 {
			continue
		}
		b, err := s.load(f, &space)
		if err != nil {
			return err
		}
		if f.stream != stream {
			stream, removed = f.stream, b.lastRemoved()
		}
		at, over := b.find(removed)
		if at >= 0 {
			b.erase(at)
			if err := durable.WriteFile(filepath.Join(s.Dir, f.name), b.content); err != nil {
				return err
			}
		}
		if over {
			removed = 0
		}
	}
	return nil
}

// lastRemoved returns the message that the last record of a block says is removed, 0 if it is no such note.
func (b *block) lastRemoved() (removed uint64) {
	for at := 0; ; {
		size, sequence, _, _ := b.head(at)
		if size == 0 {
			return removed
		}
		at += size
		if removed = 0; sequence&removedBit != 0 {
			removed = sequence &^ flagBits
		}
	}
}

// find returns the offset of a message with its content, -1 if it has none here, and whether no earlier block
// can have it.
func (b *block) find(message uint64) (at int, over bool) {
	for at := 0; message > 0; {
		size, sequence, _, _ := b.head(at)
		switch {
		case size == 0:
			return -1, over
		case sequence == message:
			return at, true
		case sequence&removedBit == 0:
			over = over || sequence&^flagBits <= message
		}
		at += size
	}
	return -1, true
}

// erase overwrites a message as the engine does.
func (b *block) erase(at int) {
	size, sequence, _, _ := b.head(at)
	record := b.content[at : at+size]
	binary.LittleEndian.PutUint32(record, uint32(size))
	binary.LittleEndian.PutUint64(record[4:], sequence|erasedBit)
	clear(record[12:headSize])
	_, _ = rand.Read(record[headSize : size-hashSize]) // it never fails
	copy(record[size-hashSize:], b.sum(record, 0, 0))
}
