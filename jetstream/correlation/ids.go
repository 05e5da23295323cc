// Package correlation has the ids that find their event, and the first fields of an event found
// so: enough to know whether it is the right one, when it came, and its pipelines.
//
// It reads no stream: package jetstream does that for results, package journal for
// searches.
package correlation

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
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
	Sequence uint64 // of the event that it leads to, if that fits

	nonce uint64
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
func (c IDs) ID(sequence uint64, traceID string) string {
	nonce := c.nonceOf(sequence, traceID)
	return pack(nonce, (sequence<<formBits|storedForm)<<zeroBits^c.mask(nonce)).String()
}

// Parse reads an id.
func (c IDs) Parse(id string) (r Reference, ok bool) {
	nonce, locator, ok := c.open(id)
	return Reference{locator >> formBits, nonce}, ok && locator&(1<<formBits-1) == storedForm
}

// open returns the parts of an id, without the bits that must be zero.
func (c IDs) open(id string) (nonce, locator uint64, ok bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
		return 0, 0, false
	}
	nonce, masked := unpack(u)
	locator = masked ^ c.mask(nonce)
	return nonce, locator >> zeroBits, locator&(1<<zeroBits-1) == 0
}

// Fits reports whether an id leads to the event with a trace id.
func (c IDs) Fits(r Reference, traceID string) bool {
	return r.nonce == c.nonceOf(r.Sequence, traceID)
}

// Same reports whether an id is that of an event.
func (c IDs) Same(id string, sequence uint64, traceID string) bool {
	r, ok := c.Parse(id)
	return ok && r.Sequence == sequence && c.Fits(r, traceID)
}

// nonceOf returns the part of a correlation id that only we can make.
func (c IDs) nonceOf(sequence uint64, traceID string) uint64 {
	var space [8 + 64]byte // for a trace id of ours, off the heap
	return c.hash("event", append(binary.BigEndian.AppendUint64(space[:0], sequence), traceID...))
}

// Nonce returns a number that nobody else can derive from a trace id.
func (c IDs) Nonce(traceID string) uint64 { return c.hash("nonce", []byte(traceID)) }

func (c IDs) mask(nonce uint64) uint64 {
	return c.hash("mask", binary.BigEndian.AppendUint64(make([]byte, 0, 8), nonce)) >> (64 - locatorBits)
}

// Cursor returns a place in a list that callers give back to go on there. As an id, it tells
// nobody how many events there are.
func (c IDs) Cursor(place ...uint64) string {
	b := make([]byte, 8, 8+8*len(place))
	for _, number := range place {
		b = binary.BigEndian.AppendUint64(b, number)
	}
	binary.BigEndian.PutUint64(b, c.hash("cursor", b[8:]))
	c.maskPlace(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Place returns the numbers of a cursor, which must be as many.
func (c IDs) Place(cursor string, count int) (place []uint64, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != 8+8*count {
		return nil, false
	}
	c.maskPlace(b)
	for part := range slices.Chunk(b[8:], 8) {
		place = append(place, binary.BigEndian.Uint64(part))
	}
	return place, binary.BigEndian.Uint64(b) == c.hash("cursor", b[8:])
}

// maskPlace masks the numbers of a cursor, or unmasks them, by the hash before them.
func (c IDs) maskPlace(b []byte) {
	nonce := binary.BigEndian.Uint64(b)
	for i, part := range slices.Collect(slices.Chunk(b[8:], 8)) {
		binary.BigEndian.PutUint64(part, binary.BigEndian.Uint64(part)^c.hash("place", binary.BigEndian.AppendUint64(nil, nonce+uint64(i))))
	}
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

// SpoolBits is how many bits the number of a spool has.
const SpoolBits = 16

const placeBits = sequenceBits - SpoolBits

// A SpooledReference is what the correlation id of a spooled event says.
type SpooledReference struct {
	Spool uint64 // its number
	Place uint64 // of the event in it

	nonce uint64
}

// SpooledID returns the correlation id of an event that waits in a spool, and has no
// sequence among all events yet. The id has the number of the spool and the event's
// place there, and stays good when the event is handed over.
func (c IDs) SpooledID(spool, place uint64, traceID string) string {
	locator := spool<<placeBits | place&(1<<placeBits-1)
	nonce := c.spooledNonce(locator, traceID)
	return pack(nonce, (locator<<formBits|spooledForm)<<zeroBits^c.mask(nonce)).String()
}

// ParseSpooled reads the id of a spooled event.
func (c IDs) ParseSpooled(id string) (r SpooledReference, ok bool) {
	nonce, locator, ok := c.open(id)
	place := locator >> formBits
	r = SpooledReference{Spool: place >> placeBits, Place: place & (1<<placeBits - 1), nonce: nonce}
	return r, ok && locator&(1<<formBits-1) == spooledForm
}

// FitsSpooled reports whether an id leads to the event with a trace id.
func (c IDs) FitsSpooled(r SpooledReference, traceID string) bool {
	return r.nonce == c.spooledNonce(r.Spool<<placeBits|r.Place, traceID)
}

// WasSpooled reports whether a spool has made an id for the event with a trace id.
func (c IDs) WasSpooled(id, traceID string) bool {
	if id == "" {
		return false
	}
	r, ok := c.ParseSpooled(id)
	return ok && c.FitsSpooled(r, traceID)
}

func (c IDs) spooledNonce(locator uint64, traceID string) uint64 {
	var space [8 + 64]byte // for a trace id of ours, off the heap
	return c.hash("spooled", append(binary.BigEndian.AppendUint64(space[:0], locator), traceID...))
}

// An Envelope is what the result of an event depends on.
type Envelope struct {
	Sequence  uint64
	Subject   string
	EventKey  string
	Key       string // of a message, if it is no event
	TraceID   string
	ReplayOf  string
	Received  time.Time
	Listeners []string

	Fingerprint *sluice.Fingerprint // of a call with an id; nil for others
	BodyHash    string              // likewise; "" for calls that version 0.2.0 took

	// Foreign says that something was missing or wrong, and was made up: another
	// program has published the event.
	Foreign bool
}

// ReadEnvelope reads the fields of an event before its payload, which may be
// megabytes. It fails for what is no event at all.
func ReadEnvelope(msg *jetstream.RawStreamMsg) (Envelope, error) {
	e := Envelope{Sequence: msg.Sequence, Subject: msg.Subject}
	if err := e.read(json.NewDecoder(bytes.NewReader(msg.Data))); err != nil {
		return e, err
	}
	key, traceID := e.EventKey+e.Key, e.TraceID
	if !published(msg.Subject) && (e.Received.IsZero() || !sluice.ValidTraceID(traceID)) {
		return e, errors.New("it is no event") // such as a marker of a delivery
	}
	e.EventKey, e.Key = KeysOf(msg.Subject, e.EventKey, e.Key)
	if !sluice.ValidTraceID(traceID) {
		e.TraceID = sluice.ForeignTraceID(msg.Time, msg.Sequence)
	}
	if e.Received.IsZero() {
		e.Received = msg.Time.UTC()
		e.Foreign = true
	}
	e.Foreign = e.Foreign || e.TraceID != traceID || e.EventKey+e.Key != key
	e.Received = sluice.MadeAt(e.TraceID, e.Received)
	return e, nil
}

// published reports whether other programs may publish on a subject.
func published(subject string) bool {
	return strings.HasPrefix(subject, sluice.EventPrefix) || strings.HasPrefix(subject, stream.MessagePrefix)
}

// KeysOf returns the keys of what was published on a subject. Another program may have
// left them out, or written others.
func KeysOf(subject, eventKey, key string) (string, string) {
	if on, ok := strings.CutPrefix(subject, sluice.EventPrefix); ok {
		return on, ""
	}
	if on, ok := strings.CutPrefix(subject, stream.MessagePrefix); ok {
		return "", on
	}
	return eventKey, key
}

// read reads fields up to the time, which is the last one before the payload.
func (e *Envelope) read(dec *json.Decoder) error {
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return errors.Join(errors.New("an event is an object"), err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var target any
		switch name {
		case "eventKey":
			target = &e.EventKey
		case "key":
			target = &e.Key
		case "traceId":
			target = &e.TraceID
		case "replayOf":
			target = &e.ReplayOf
		case "listeners":
			target = &e.Listeners
		case "delivery":
			target = &e.Fingerprint
		case "bodyHash":
			target = &e.BodyHash
		case "receivedAt":
			target = &e.Received
		default:
			target = new(json.RawMessage)
		}
		if err := dec.Decode(target); err != nil {
			if _, broken := errors.AsType[*json.SyntaxError](err); broken || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			e.Foreign = true // of another type: as if it were missing
		}
		if name == "receivedAt" && !e.Received.IsZero() {
			return nil
		}
	}
	return nil
}
