package delivery

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// An entry is what is remembered of a delivery: 34 bytes, without pointers. They are its key
// (12), the digest of its body (3), the sequence of its event (6), of the trace id the time
// and what is random, 42 bits each (11), and a hash of the webhook's part (2).
type entry [34]byte

// unowned is the length of the entries that earlier versions stored, without an owner.
const unowned = 32

func (e *entry) key() *[12]byte { return (*[12]byte)(e[:]) }

func (e *entry) digest() [3]byte { return [3]byte(e[12:]) }

func (e *entry) sequence() uint64 { return binary.BigEndian.Uint64(e[13:]) & (1<<48 - 1) }

func (e *entry) millis() uint64 { return (binary.BigEndian.Uint64(e[19:]) & (1<<48 - 1)) >> 2 }

func (e *entry) random() uint64 { return binary.BigEndian.Uint64(e[24:]) & (1<<42 - 1) }

// owner returns whose share the entry counts for. Few webhooks have the same one.
func (e *entry) owner() uint16 { return binary.BigEndian.Uint16(e[unowned:]) }

func (e *entry) at() time.Time { return time.UnixMilli(int64(e.millis())) }

// accepted returns the first call of an entry. The owner is the part of its trace id that
// stands for the webhook.
func (e *entry) accepted(owner string) Accepted {
	return Accepted{
		Sequence: e.sequence(),
		TraceID:  owner + ":" + base36(e.millis()) + base36(e.random()),
		At:       e.at(),
		Digest:   e.digest(),
		Doubtful: e.random() == 0 || e.owner() != hashOf(owner),
	}
}

func hashOf(owner string) uint16 { return uint16(crc32.ChecksumIEEE([]byte(owner))) }

// An Accepted delivery is the first call with its id.
type Accepted struct {
	Sequence uint64 // of its event
	TraceID  string
	At       time.Time
	Digest   [3]byte // of its body
	Doubtful bool    // the trace id may be another one: that is in the event
}

// entryOf returns the entry of an accepted event. What a run sends has the trace id of an earlier
// call, or of another program: that is in the event.
func entryOf(f *sluice.Fingerprint, sequence uint64, traceID string, received time.Time) (e entry) {
	owner, id, _ := strings.Cut(traceID, ":")
	at, random := uint64(received.UnixMilli()), uint64(0)
	if made, ours := sluice.TraceTime(traceID); ours && received.Sub(made) < time.Second {
		at, _ = strconv.ParseUint(id[:digits], 36, 64)
		random, _ = strconv.ParseUint(id[digits:2*digits], 36, 64)
	}
	binary.BigEndian.PutUint16(e[unowned:], hashOf(owner))
	// From the end: each takes the place of the high bytes of the one behind it, which are zero.
	binary.BigEndian.PutUint64(e[24:], random)
	binary.BigEndian.PutUint64(e[19:], at<<2|random>>40)
	binary.BigEndian.PutUint64(e[13:], sequence)
	copy(e[12:], f.Digest[:])
	copy(e[:], f.Key[:])
	return e
}

func base36(n uint64) string {
	text := strconv.FormatUint(n, 36)
	return strings.Repeat("0", max(0, digits-len(text))) + text
}

// digits is how many digits of base 36 the time of a trace id and its random part have.
const digits = 8
