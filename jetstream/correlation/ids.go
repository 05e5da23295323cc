package correlation

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// IDs makes correlation ids and reads them back. An id is a version-8
// UUID of two parts:
//
//	nonce    64 bits  a keyed hash of the event's trace id
//	locator  58 bits  the event's stream sequence and 14 zero bits,
//	                  masked with a keyed hash of the nonce
//
// So an id finds its event without an index, tells nobody how many events
// there are, and can't be made up: the nonce must fit the trace id of the
// event that the locator points to. The zero bits turn most guesses away
// before anything is read.
type IDs struct {
	key []byte
}

// NewIDs returns the ids of all nodes that share a key.
func NewIDs(key []byte) IDs { return IDs{key} }

const (
	sequenceBits = 44 // 37 years at 15,000 events a second
	checkBits    = 14
	locatorBits  = sequenceBits + checkBits
)

// ID returns the correlation id of an event.
func (c IDs) ID(sequence uint64, traceID string) string {
	nonce := c.Nonce(traceID)
	return pack(nonce, sequence<<checkBits^c.mask(nonce)).String()
}

// Parse returns the sequence that an id points to and the nonce that the event
// there must have.
func (c IDs) Parse(id string) (sequence, nonce uint64, ok bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
		return 0, 0, false
	}
	nonce, masked := unpack(u)
	locator := masked ^ c.mask(nonce)
	return locator >> checkBits, nonce, locator&(1<<checkBits-1) == 0
}

// Nonce returns the part of a correlation id that depends on the trace id
// alone.
func (c IDs) Nonce(traceID string) uint64 {
	return c.hash("nonce", []byte(traceID))
}

func (c IDs) mask(nonce uint64) uint64 {
	return c.hash("mask", binary.BigEndian.AppendUint64(make([]byte, 0, 8), nonce)) >> (64 - locatorBits)
}

// hash is a keyed hash. It is truncated, so plain SHA-256 serves: to extend it,
// an attacker would need the part that was cut off.
func (c IDs) hash(purpose string, data []byte) uint64 {
	var space [96]byte // off the heap
	sum := sha256.Sum256(append(append(append(space[:0], c.key...), purpose...), data...))
	return binary.BigEndian.Uint64(sum[:])
}

// pack lays nonce and locator around the 4 version and 2 variant bits of a
// UUID: 60 bits of the nonce in the first half, 4 and the locator in the second.
func pack(nonce, locator uint64) (u uuid.UUID) {
	high := nonce >> 4
	binary.BigEndian.PutUint64(u[:8], high>>12<<16|8<<12|high&0xfff)
	binary.BigEndian.PutUint64(u[8:], 2<<62|nonce&0xf<<locatorBits|locator)
	return u
}

func unpack(u uuid.UUID) (nonce, locator uint64) {
	high, low := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	nonce = (high>>16<<12|high&0xfff)<<4 | low>>locatorBits&0xf
	return nonce, low & (1<<locatorBits - 1)
}
