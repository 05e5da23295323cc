package journal

import (
	"encoding/binary"
	"time"

	"sluice"
)

// A mark is what the index knows of one stored event: enough to tell that a
// search is not about it. A hash may lie once in billions, so what it lets
// through is compared with the event itself.
type mark struct {
	owner     uint32   // hash of the webhook's part of the trace id
	trace     uint32   // hash of the whole trace id
	key       uint32   // hash of the key
	at        int64    // when it was received, in milliseconds
	pipelines nameBits // that it was handed to
}

// nameBits are a set of names: each has a few of the bits. It may seem to have a
// name that it lacks, never the other way round.
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

// has tells whether all of some bits are in the set.
func (b nameBits) has(some nameBits) bool { return b&some == some }

// What an owner stands for that is no hash.
const (
	markUnknown = 0 // nobody has looked yet
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

// hash32 is FNV-1a, but for the two values that say something else.
func hash32(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return max(h, markAbsent+1)
}

// indexed is how many events a block of the index covers.
const indexed = 4096

// marks are those of one block, by their place in it.
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

// learn takes over what is known elsewhere and not here.
func (m *marks) learn(data []byte) {
	if len(data) != indexed*markSize {
		return // of another version: as if it were not there
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

// unknown gives the places between two, both included, that nobody has looked
// at yet.
func (m *marks) unknown(first, last int) (places []int) {
	for i := first; i <= last; i++ {
		if m[i].owner == markUnknown {
			places = append(places, i)
		}
	}
	return places
}
