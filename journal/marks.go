package journal

import (
	"encoding/binary"
	"time"

	"sluice"
)

// A mark is what the index knows of one stored event: enough to rule out that a
// search is about it. Hashes may collide, so an event that isn't ruled out is
// compared itself.
type mark struct {
	owner     uint32   // hash of the webhook's part of the trace id
	trace     uint32   // hash of the whole trace id
	key       uint32   // hash of the key
	at        int64    // when it was received, in milliseconds
	pipelines nameBits // that it was handed to
}

// nameBits are a set of names, as a Bloom filter: it may seem to have a name
// that it lacks, but never lacks a name that it has.
type nameBits uint64

func bitsOf(names ...string) (bits nameBits) {
	const each = 4
	for _, name := range names {
		h := hash32(name)
		for range each {
			bits |= 1 << (h % 64)
			h >>= 6
		}
	}
	return bits
}

// has reports whether all of some bits are in the set.
func (b nameBits) has(some nameBits) bool { return b&some == some }

// Owners that are not hashes.
const (
	markUnknown = 0 // the event was not looked at yet
	markAbsent  = 1 // there is no event
)

func markOf(traceID, key string, received time.Time, pipelines []string) mark {
	return mark{
		owner:     hash32(sluice.TraceOwner(traceID)),
		trace:     hash32(traceID),
		key:       hash32(key),
		at:        received.UnixMilli(),
		pipelines: bitsOf(pipelines...),
	}
}

// hash32 is FNV-1a, except for the two values with another meaning.
func hash32(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return max(h, markAbsent+1)
}

// indexed is how many events a block of the index covers.
const indexed = 4096

// marks are those of one block, by position.
type marks [indexed]mark

const markSize = 28

func (m *marks) encode() []byte {
	data := make([]byte, 0, indexed*markSize)
	for i := range m {
		for _, n := range [...]uint32{m[i].owner, m[i].trace, m[i].key} {
			data = binary.LittleEndian.AppendUint32(data, n)
		}
		data = binary.LittleEndian.AppendUint64(data, uint64(m[i].at))
		data = binary.LittleEndian.AppendUint64(data, uint64(m[i].pipelines))
	}
	return data
}

// learn adds the marks that another view has and this one lacks.
func (m *marks) learn(data []byte) {
	if len(data) != indexed*markSize {
		return // of another version: ignored
	}
	for i := range m {
		if m[i].owner == markUnknown {
			b := data[i*markSize:]
			m[i] = mark{
				owner:     binary.LittleEndian.Uint32(b),
				trace:     binary.LittleEndian.Uint32(b[4:]),
				key:       binary.LittleEndian.Uint32(b[8:]),
				at:        int64(binary.LittleEndian.Uint64(b[12:])),
				pipelines: nameBits(binary.LittleEndian.Uint64(b[20:])),
			}
		}
	}
}

// unknown returns the positions between two, both included, without a mark.
func (m *marks) unknown(first, last int) (positions []int) {
	for i := first; i <= last; i++ {
		if m[i].owner == markUnknown {
			positions = append(positions, i)
		}
	}
	return positions
}
