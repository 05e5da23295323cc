package damage

import (
	"bytes"
	"cmp"
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
	erasedBit  = 1 << 63 // of a sequence: the message was overwritten
	removedBit = 1 << 62 // of a sequence: the record is a note that the message was removed
	flagBits   = erasedBit | removedBit
)

// A block is one file of messages.
type block struct {
	content []byte
	hash    *highwayhash.Digest64
	space   [hashSize]byte // for a checksum
}

func newBlock(stream string, number int, content []byte) (*block, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, number))
	hash, err := highwayhash.NewDigest64(key[:])
	return &block{content: content, hash: hash}, err
}

// record returns the size and the sequence of the record at an offset, 0 if it has no message; not ok
// says that none can be read there.
func (b *block) record(at int) (size int, sequence uint64, ok bool) {
	size, sequence, subject, start := b.head(at)
	if size == 0 {
		return 0, 0, false
	}
	record := b.content[at : at+size]
	if !bytes.Equal(b.sum(record, subject, start), record[size-hashSize:]) {
		return 0, 0, false
	}
	if sequence&flagBits != 0 {
		sequence = 0
	}
	return size, sequence, true
}

// head returns what the head of a record says: its size, 0 if there can't be one, its sequence with its
// flags, how long its subject is, and where behind the head the rest begins.
func (b *block) head(at int) (size int, sequence uint64, subject, start int) {
	if at+headSize+hashSize > len(b.content) {
		return 0, 0, 0, 0
	}
	head := b.content[at : at+headSize]
	length := binary.LittleEndian.Uint32(head)
	size = int(length &^ headersBit)
	subject = int(binary.LittleEndian.Uint16(head[20:]))
	start = subject
	if length&headersBit != 0 {
		start += 4
	}
	if size > longest || size < headSize+start+hashSize || at+size > len(b.content) {
		return 0, 0, 0, 0
	}
	return size, binary.LittleEndian.Uint64(head[4:]), subject, start
}

// sum returns the checksum of a record.
func (b *block) sum(record []byte, subject, start int) []byte {
	data := record[headSize : len(record)-hashSize]
	b.hash.Reset()
	_, _ = b.hash.Write(record[4:20]) // a hash never fails
	_, _ = b.hash.Write(data[:subject])
	_, _ = b.hash.Write(data[start:])
	return b.hash.Sum(b.space[:0])
}

// losses returns what can't be read, and which messages can.
func (b *block) losses() (losses []Loss, can Extent) {
	ended := 0 // losses that are known to end before a message
	for at := 0; at < len(b.content); {
		size, sequence, ok := b.record(at)
		if !ok {
			next := b.resume(at + 1)
			l := Loss{Problem: fmt.Sprintf("%d bytes can't be read", next-at)}
			if can.Last > 0 {
				l.First = can.Last + 1
			}
			losses = append(losses, l)
			at = next
			continue
		}
		at += size
		if sequence > can.Last {
			for ; ended < len(losses); ended++ {
				losses[ended].Last = sequence - 1
			}
			can.First, can.Last = cmp.Or(can.First, sequence), sequence
		}
	}
	return losses, can
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

// whole returns the block without what can't be read.
func (b *block) whole() (whole []byte) {
	for at := 0; at < len(b.content); at = b.resume(at) {
		size, _, _ := b.record(at) // none: there is nothing that can be read before the next one
		whole = append(whole, b.content[at:at+size]...)
		at += size
	}
	return whole
}
