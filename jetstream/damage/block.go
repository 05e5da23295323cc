package damage

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/minio/highwayhash"
)

// Layout of a record in a block, as the engine writes it: length, sequence, time,
// length of the subject, subject, the length of the headers if the top bit of the first
// length is set, headers and payload, checksum.
const (
	headSize = 22
	hashSize = 8
	longest  = 32 << 20

	headersBit = 1 << 31
	flagBits   = 3 << 62 // of a sequence: the message was erased, or the record says that it was removed
)

// A hole is a part of a block that can't be read.
type hole struct {
	from, to    int    // bytes
	after, next uint64 // sequences of the messages around it; 0: there is none
}

// A block is one file of messages.
type block struct {
	content []byte
	hash    *highwayhash.Digest64
}

func newBlock(stream string, number int, content []byte) (*block, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, number))
	hash, err := highwayhash.NewDigest64(key[:])
	return &block{content, hash}, err
}

// record returns the size and the sequence of the record at an offset; not ok says that
// none can be read there.
func (b *block) record(at int) (size int, sequence uint64, ok bool) {
	if at+headSize+hashSize > len(b.content) {
		return 0, 0, false
	}
	head := b.content[at : at+headSize]
	length := binary.LittleEndian.Uint32(head)
	size = int(length &^ headersBit)
	subject := int(binary.LittleEndian.Uint16(head[20:]))
	start := subject
	if length&headersBit != 0 {
		start += 4
	}
	if size > longest || size < headSize+start+hashSize || at+size > len(b.content) {
		return 0, 0, false
	}
	data := b.content[at+headSize : at+size]
	end := len(data) - hashSize
	b.hash.Reset()
	_, _ = b.hash.Write(head[4:20]) // a hash never fails
	_, _ = b.hash.Write(data[:subject])
	_, _ = b.hash.Write(data[start:end])
	var sum [hashSize]byte
	if !bytes.Equal(b.hash.Sum(sum[:0]), data[end:]) {
		return 0, 0, false
	}
	sequence = binary.LittleEndian.Uint64(head[4:])
	if sequence&flagBits != 0 {
		sequence = 0
	}
	return size, sequence, true
}

// holes returns the parts that can't be read, the number of records that can, and the
// first and last message among these.
func (b *block) holes() (holes []hole, records int, first, last uint64) {
	for at := 0; at < len(b.content); {
		size, sequence, ok := b.record(at)
		if !ok {
			h := hole{from: at, to: b.resume(at + 1), after: last}
			holes = append(holes, h)
			at = h.to
			continue
		}
		at += size
		records++
		if sequence > last {
			for i := len(holes) - 1; i >= 0 && holes[i].next == 0; i-- {
				holes[i].next = sequence
			}
			last = sequence
			if first == 0 {
				first = sequence
			}
		}
	}
	return holes, records, first, last
}

// resume returns the offset of the next record that can be read.
func (b *block) resume(at int) int {
	for ; at+headSize+hashSize <= len(b.content); at++ {
		if _, _, ok := b.record(at); ok {
			return at
		}
	}
	return len(b.content)
}

// without returns the block without its holes.
func (b *block) without(holes []hole) []byte {
	whole := make([]byte, 0, len(b.content))
	at := 0
	for _, h := range holes {
		whole = append(whole, b.content[at:h.from]...)
		at = h.to
	}
	return append(whole, b.content[at:]...)
}
