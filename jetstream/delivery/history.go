package delivery

import (
	"encoding/binary"
	"time"
)

// A history holds entries in the order in which they came, and finds them by key. An entry
// takes 34 bytes, and 5 to 16 more in the table. There are no pointers in it, so the
// garbage collector has nothing to follow.
type history struct {
	keep   time.Duration
	chunks [][]entry // all full but the last; entries of the first may be gone
	first  uint64    // number of the oldest entry
	next   uint64    // number of the next entry
	table  []uint32  // references to entries, by hash
	used   int       // slots of the table, also by references to entries that are gone
}

const (
	chunkSize = 512
	smallest  = 64        // slots of a table
	round     = 1<<32 - 1 // numbers that a table can tell apart
)

// reference returns what the table has for the entry of a number. 0 is a free slot.
func reference(number uint64) uint32 { return uint32(number%round) + 1 }

func (h *history) len() int { return int(h.next - h.first) }

// at returns the entry of a number.
func (h *history) at(number uint64) *entry {
	base := h.first / chunkSize
	return &h.chunks[number/chunkSize-base][number%chunkSize]
}

// numbered returns the number of the entry that the table refers to: one that is gone seems to be still to come.
func (h *history) numbered(reference uint32) uint64 {
	number := h.first - h.first%round + uint64(reference-1)
	if number < h.first {
		number += round
	}
	return number
}

func slotOf(key *[12]byte) uint32 { return binary.BigEndian.Uint32(key[:]) }

// find returns the slot of a key in the table, or the free slot where it would be.
func (h *history) find(key *[12]byte) (slot int, found bool) {
	if len(h.table) == 0 {
		return 0, false
	}
	mask := uint32(len(h.table) - 1)
	for i := slotOf(key) & mask; ; i = (i + 1) & mask {
		if h.table[i] == 0 {
			return int(i), false
		}
		if number := h.numbered(h.table[i]); number < h.next && *h.at(number).key() == *key {
			return int(i), true
		}
	}
}

// get returns the entry of a key, nil if there is none.
func (h *history) get(key *[12]byte) *entry {
	if slot, found := h.find(key); found {
		return h.at(h.numbered(h.table[slot]))
	}
	return nil
}

// put adds an entry, and replaces the one with that key if there is one.
func (h *history) put(e entry) {
	if h.used*4 >= len(h.table)*3 {
		h.grow()
	}
	slot, found := h.find(e.key())
	if !found {
		h.used++
	}
	if len(h.chunks) == 0 || h.next%chunkSize == 0 {
		h.chunks = append(h.chunks, make([]entry, chunkSize))
	}
	*h.at(h.next) = e
	h.table[slot] = reference(h.next)
	h.next++
}

// drop removes the oldest entry, and reports whether there was no newer one with its key.
func (h *history) drop() (known bool) {
	slot, found := h.find(h.at(h.first).key())
	known = found && h.numbered(h.table[slot]) == h.first
	h.first++
	if h.first%chunkSize == 0 {
		h.chunks[0] = nil
		h.chunks = h.chunks[1:]
	}
	return known
}

// grow makes the table as large as its entries need, without the references to entries that are gone.
func (h *history) grow() {
	size := smallest
	for size < 2*(h.len()+1) {
		size *= 2
	}
	before := h.table
	h.table, h.used = make([]uint32, size), 0
	mask := uint32(size - 1)
	for _, taken := range before {
		if number := h.numbered(taken); taken != 0 && number < h.next {
			i := slotOf(h.at(number).key()) & mask
			for h.table[i] != 0 {
				i = (i + 1) & mask
			}
			h.table[i] = taken
			h.used++
		}
	}
}

// expire removes at most so many entries whose time is over, and tells of each.
func (h *history) expire(now time.Time, most int, gone func(*entry)) {
	for ; most > 0 && h.len() > 0 && now.Sub(h.at(h.first).at()) > h.keep; most-- {
		gone(h.at(h.first))
		h.drop()
	}
	if h.len() == 0 && len(h.table) > smallest {
		h.table, h.used = nil, 0
	}
}
