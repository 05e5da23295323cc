// Package correlation has the ids that find their event, and the first fields of an event found
// so: enough to know whether it is the right one, when it came, and its pipelines.
//
// It reads no stream: package jetstream does that for results, package journal for
// searches.
package correlation

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// IDs makes correlation ids and reads them back. An id is a version-8
// UUID of two parts:
//
//	nonce    64 bits  a keyed hash of the event's trace id and sequence
//	locator  58 bits  the event's stream sequence (44 bits), the form of the id
//	                  (2 bits) and 12 zero bits, masked with a keyed hash of the
//	                  nonce
//
// So an id finds its event without an index and tells nobody how many events there
// are. It can't be made up, nor derived from that of another event with the same
// trace id: the nonce must fit the event that the locator points to. The zero bits
// stop most guesses before anything is read; some of them can become the number of a
// partition.
//
// Another form is for events that wait in a spool: see SpooledID.
type IDs struct{ key []byte }

// A Reference is what a correlation id says.
type Reference struct {
	Sequence uint64 // of the event that it leads to, if that fits; for one that waits in a spool, see Spooled

	form, nonce uint64
}

// NewIDs returns the ids that all nodes with the same key make.
func NewIDs(key []byte) IDs { return IDs{key} }

const (
	sequenceBits = 44 // 37 years at 15,000 events a second
	formBits     = 2
	zeroBits     = 12
	locatorBits  = sequenceBits + formBits + zeroBits

	storedForm, spooledForm = 1, 2
)

// ID returns the correlation id of an event.
func (c IDs) ID(sequence uint64, traceID string) string { return c.id(storedForm, sequence, traceID) }

func (c IDs) id(form, place uint64, traceID string) string {
	nonce := c.nonceOf(form, place, traceID)
	return pack(nonce, (place<<formBits|form)<<zeroBits^c.mask(nonce)).String()
}

// Parse reads an id.
func (c IDs) Parse(id string) (r Reference, ok bool) { return c.parse(storedForm, id) }

// parse reads an id of a form.
func (c IDs) parse(form uint64, id string) (r Reference, ok bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
		return r, false
	}
	nonce, masked := unpack(u)
	locator := masked ^ c.mask(nonce)
	ok = locator&(1<<(zeroBits+formBits)-1) == form<<zeroBits
	return Reference{locator >> (zeroBits + formBits), form, nonce}, ok
}

// Fits reports whether an id leads to the event with a trace id.
func (c IDs) Fits(r Reference, traceID string) bool {
	return r.nonce == c.nonceOf(r.form, r.Sequence, traceID)
}

// Same reports whether an id is that of an event.
func (c IDs) Same(id string, sequence uint64, traceID string) bool {
	r, ok := c.Parse(id)
	return ok && r.Sequence == sequence && c.Fits(r, traceID)
}

// nonceOf returns the part of a correlation id that only we can make.
func (c IDs) nonceOf(form, place uint64, traceID string) uint64 {
	var space [8 + 64]byte // for a trace id of ours, off the heap
	purpose := "event"
	if form == spooledForm {
		purpose = "spooled"
	}
	return c.hash(purpose, append(binary.BigEndian.AppendUint64(space[:0], place), traceID...))
}

// Nonce returns a number that nobody else can derive from a trace id.
func (c IDs) Nonce(traceID string) uint64 { return c.hash("nonce", []byte(traceID)) }

func (c IDs) mask(nonce uint64) uint64 {
	return c.hash("mask", binary.BigEndian.AppendUint64(make([]byte, 0, 8), nonce)) >> (64 - locatorBits)
}

// hash is a keyed hash. It is truncated, so plain SHA-256 is enough: to extend it, an
// attacker would need the part that was cut off.
func (c IDs) hash(purpose string, data []byte) uint64 {
	var space [128]byte // off the heap
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
