package journal

import (
	"encoding/binary"
	"time"

	"sluice"
)

// An entry is what the index knows of one stored event: enough to rule out most
// events in a search. Hashes may collide, so an event that isn't ruled out is
// compared itself.
type entry struct {
	owner     uint32   // hash of the webhook's part of the trace id
	trace     uint32   // hash of the whole trace id, or of that of the call which brought it with others
	key       uint32   // hash of the key
	at        int64    // when it was received, in milliseconds
	pipelines nameBits // that it was handed to
}

// nameBits are a set of names, as a Bloom filter: it may seem to have a name
// that it lacks, but never lacks a name that it has.
type nameBits uint64

// has reports whether the set has all of some names.
func (b nameBits) has(some nameBits) bool { return b&some == some }

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

// Owners that are not hashes.
const (
	entryUnknown = 0 // the event was not looked at yet
	entryAbsent  = 1 // there is no event
)

func entryOf(traceID, key string, received time.Time, pipelines []string) entry {
	return entry{
		owner:     hash32(sluice.TraceOwner(traceID)),
		trace:     hash32(sluice.CallTraceID(traceID)),
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
	return max(h, entryAbsent+1)
}

// indexed is how many events a block of the index covers.
const indexed = 4096

// entries are those of one block.
type entries [indexed]entry

func (e *entries) encode() []byte {
	data := make([]byte, 0, indexed*entrySize)
	for i := range e {
		for _, n := range [...]uint32{e[i].owner, e[i].trace, e[i].key} {
			data = binary.LittleEndian.AppendUint32(data, n)
		}
		data = binary.LittleEndian.AppendUint64(data, uint64(e[i].at))
		data = binary.LittleEndian.AppendUint64(data, uint64(e[i].pipelines))
	}
	return data
}

// learn adds the entries that another view has and this one lacks.
func (e *entries) learn(data []byte) {
	if len(data) != indexed*entrySize {
		return // another version wrote it
	}
	for i := range e {
		if e[i].owner == entryUnknown {
			b := data[i*entrySize:]
			e[i] = entry{
				owner:     binary.LittleEndian.Uint32(b),
				trace:     binary.LittleEndian.Uint32(b[4:]),
				key:       binary.LittleEndian.Uint32(b[8:]),
				at:        int64(binary.LittleEndian.Uint64(b[12:])),
				pipelines: nameBits(binary.LittleEndian.Uint64(b[20:])),
			}
		}
	}
}

// unknown returns which events from first to last have no entry.
func (e *entries) unknown(first, last int) (missing []int) {
	for i := first; i <= last; i++ {
		if e[i].owner == entryUnknown {
			missing = append(missing, i)
		}
	}
	return missing
}

const entrySize = 28
