package delivery

import (
	"encoding/binary"
	"time"
)

// A shelf holds entries in the order in which they came, and finds them by their
// keys. Each takes 32 bytes, and 5 to 16 in the table that finds it: none of that
// is a pointer, so that the garbage collector passes it over.
type shelf struct {
	keep   time.Duration
	chunks [][]entry // full ones but for the last; entries of the first may be gone
	first  uint64    // number of the oldest entry that is there
	next   uint64    // number of the next one
	table  []uint32  // numbers of entries, by hash; see place
	used   int       // places of the table that are taken
}

const (
	chunkSize = 512
	smallest  = 64        // places of a table
	round     = 1<<32 - 1 // numbers that a table can tell apart
)

// place returns what stands for a number in the table, where 0 means free.
func place(number uint64) uint32 { return uint32(number%round) + 1 }

func (s *shelf) len() int { return int(s.next - s.first) }

// at returns the entry of a number.
func (s *shelf) at(number uint64) *entry {
	base := s.first / chunkSize
	return &s.chunks[number/chunkSize-base][number%chunkSize]
}

// numbered returns the number that a place of the table stands for.
func (s *shelf) numbered(place uint32) uint64 {
	number := s.first - s.first%round + uint64(place-1)
	if number < s.first {
		number += round
	}
	return number
}

func slotOf(key *[12]byte) uint32 { return binary.BigEndian.Uint32(key[:]) }

// find returns the place of the table that has a key, or the free one where it
// would be.
func (s *shelf) find(key *[12]byte) (slot int, found bool) {
	if len(s.table) == 0 {
		return 0, false
	}
	mask := uint32(len(s.table) - 1)
	for i := slotOf(key) & mask; ; i = (i + 1) & mask {
		if s.table[i] == 0 {
			return int(i), false
		}
		if s.at(s.numbered(s.table[i])).key == *key {
			return int(i), true
		}
	}
}

// get returns the entry of a key, nil if there is none.
func (s *shelf) get(key *[12]byte) *entry {
	if slot, found := s.find(key); found {
		return s.at(s.numbered(s.table[slot]))
	}
	return nil
}

// put adds an entry, in place of the one with that key if there is one.
func (s *shelf) put(e entry) {
	if s.used*4 >= len(s.table)*3 {
		s.grow()
	}
	slot, found := s.find(&e.key)
	if !found {
		s.used++
	}
	if len(s.chunks) == 0 || s.next%chunkSize == 0 {
		s.chunks = append(s.chunks, make([]entry, chunkSize))
	}
	*s.at(s.next) = e
	s.table[slot] = place(s.next)
	s.next++
}

// drop removes the oldest entry.
func (s *shelf) drop() {
	oldest := s.at(s.first)
	if slot, found := s.find(&oldest.key); found && s.numbered(s.table[slot]) == s.first {
		s.free(slot)
	}
	s.first++
	if s.first%chunkSize == 0 {
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
	}
}

// free empties a place of the table, and moves up what stands behind it because
// the place was taken.
func (s *shelf) free(slot int) {
	mask := len(s.table) - 1
	s.used--
	for hole, i := slot, slot; ; {
		i = (i + 1) & mask
		if s.table[i] == 0 {
			s.table[hole] = 0
			return
		}
		home := int(slotOf(&s.at(s.numbered(s.table[i])).key)) & mask
		if (i-home)&mask >= (i-hole)&mask {
			s.table[hole] = s.table[i]
			hole = i
		}
	}
}

// grow makes the table as large as its entries need.
func (s *shelf) grow() {
	size := smallest
	for size < 2*(s.used+1) {
		size *= 2
	}
	before := s.table
	s.table = make([]uint32, size)
	mask := uint32(size - 1)
	for _, taken := range before {
		if taken == 0 {
			continue
		}
		i := slotOf(&s.at(s.numbered(taken)).key) & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = taken
	}
}

// expire removes entries whose time is over, at most so many, and tells how many.
func (s *shelf) expire(now time.Time, most int) (gone int) {
	for ; gone < most && s.len() > 0 && now.Sub(s.at(s.first).at()) > s.keep; gone++ {
		s.drop()
	}
	if s.len() == 0 && len(s.table) > smallest {
		s.table = nil
	}
	return gone
}
