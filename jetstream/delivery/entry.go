package delivery

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// An entry is what is remembered of a delivery: 32 bytes, without pointers.
type entry struct {
	key      [12]byte
	digest   [3]byte
	sequence [6]byte
	trace    [11]byte // what is random in the trace id, and its time
}

func (e *entry) millis() uint64 { return e.high() >> 2 }

func (e *entry) high() uint64 {
	var b [8]byte
	copy(b[2:], e.trace[:6])
	return binary.BigEndian.Uint64(b[:])
}

func (e *entry) random() uint64 {
	var b [8]byte
	copy(b[3:], e.trace[6:])
	return e.high()&3<<40 | binary.BigEndian.Uint64(b[:])
}

func (e *entry) at() time.Time { return time.UnixMilli(int64(e.millis())) }

func (e *entry) number() uint64 {
	var b [8]byte
	copy(b[2:], e.sequence[:])
	return binary.BigEndian.Uint64(b[:])
}

// accepted returns the first call of an entry. The owner is the part of its trace id that
// stands for the webhook.
func (e *entry) accepted(owner string) Accepted {
	return Accepted{
		Sequence: e.number(),
		TraceID:  owner + ":" + base36(e.millis()) + base36(e.random()),
		At:       e.at(),
		Digest:   e.digest,
	}
}

func (e *entry) append(b []byte) []byte {
	b = append(b, e.key[:]...)
	b = append(b, e.digest[:]...)
	b = append(b, e.sequence[:]...)
	return append(b, e.trace[:]...)
}

// An Accepted delivery is the first call with its id.
type Accepted struct {
	Sequence uint64 // of its event
	TraceID  string
	At       time.Time
	Digest   [3]byte // of its body
}

// entryOf returns the entry of an accepted event. It is not ok if the trace id was not made
// by us.
func entryOf(f *sluice.Fingerprint, sequence uint64, traceID string) (e entry, ok bool) {
	_, id, _ := strings.Cut(traceID, ":")
	if len(id) != 2*digits {
		return e, false
	}
	at, err := strconv.ParseUint(id[:digits], 36, 64)
	if err != nil {
		return e, false
	}
	random, err := strconv.ParseUint(id[digits:], 36, 64)
	if err != nil {
		return e, false
	}
	e.key, e.digest = f.Key, f.Digest
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], sequence)
	copy(e.sequence[:], b[2:])
	// The time and the random part have 42 bits each.
	binary.BigEndian.PutUint64(b[:], at<<2|random>>40)
	copy(e.trace[:6], b[2:])
	binary.BigEndian.PutUint64(b[:], random&(1<<40-1))
	copy(e.trace[6:], b[3:])
	return e, true
}

func base36(n uint64) string {
	text := strconv.FormatUint(n, 36)
	return strings.Repeat("0", max(0, digits-len(text))) + text
}

func readEntry(b []byte) (e entry) {
	b = b[copy(e.key[:], b):]
	b = b[copy(e.digest[:], b):]
	b = b[copy(e.sequence[:], b):]
	copy(e.trace[:], b)
	return e
}

const (
	entrySize = 32
	digits    = 8 // of base 36, in the time of a trace id and in its random part
)
