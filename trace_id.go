package sluice

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

const base36 = "0123456789abcdefghijklmnopqrstuvwxyz"

// DirectCall stands in a trace id for the webhook where there is none, as for a
// pipeline that a user runs.
const DirectCall = "direct"

// NewTraceID makes the trace id of a call: the last 6 characters of the webhook's
// token, a colon, the time in milliseconds (8 characters of base 36), by which a search
// finds its position in the stream, and 8 random characters.
func NewTraceID(uuid string, at time.Time) string { return traceID(Last6(uuid), at, rand.Uint64()) }

// foreignEvent stands in a trace id for the webhook where a foreign program has
// published the event.
const foreignEvent = "extern"

// ForeignTraceID returns the trace id of an event that came without one. It is always
// the same for an event.
func ForeignTraceID(at time.Time, sequence uint64) string { return traceID(foreignEvent, at, sequence) }

func traceID(owner string, at time.Time, number uint64) string {
	id := append(make([]byte, 0, 6+1+8+8), owner...)
	id = append(id, ':')
	id = appendBase36(id, uint64(at.UnixMilli()))
	return string(appendBase36(id, number))
}

// itemDigits is how many digits the trace id of an event has behind that of a call that brought
// several.
const itemDigits = 3

// ItemTraceID returns the trace id of one of the events that a call has brought: that of the call, and
// the place in base 36.
func ItemTraceID(call string, index int) string {
	place := appendBase36(nil, uint64(index))
	return call + string(place[len(place)-itemDigits:])
}

// CallTraceID returns the trace id of the call that an event came with, which is its own unless the
// call brought several.
func CallTraceID(traceID string) string {
	if owner := TraceOwner(traceID); len(traceID) == len(owner)+1+8+8+itemDigits {
		return traceID[:len(traceID)-itemDigits]
	}
	return traceID
}

// ValidTraceID reports whether a text can serve as a trace id, whoever made it.
func ValidTraceID(text string) bool {
	const longest = 64
	const ofIDs = "-_.:0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return text != "" && len(text) <= longest && strings.Trim(text, ofIDs) == ""
}

// appendBase36 appends the 8 lowest base-36 digits of n.
func appendBase36(b []byte, n uint64) []byte {
	var digits [8]byte
	for i := range digits {
		digits[len(digits)-1-i] = base36[n%36]
		n /= 36
	}
	return append(b, digits[:]...)
}

// TraceOwner returns the part of a trace id that stands for the webhook.
func TraceOwner(traceID string) string {
	owner, _, _ := strings.Cut(traceID, ":")
	return owner
}

// TraceTime returns the time at which a trace id was made, and whether
// NewTraceID can have made it.
func TraceTime(traceID string) (at time.Time, ok bool) {
	_, id, _ := strings.Cut(traceID, ":")
	if len(id) != 8+8 && len(id) != 8+8+itemDigits {
		return time.Time{}, false
	}
	millis, err := strconv.ParseInt(id[:8], 36, 64)
	return time.UnixMilli(millis), err == nil
}

// MadeAt returns when an event was made: when it was received, or when it was
// replayed.
func MadeAt(traceID string, received time.Time) time.Time {
	if at, ok := TraceTime(traceID); ok && at.Sub(received) >= time.Millisecond {
		return at.UTC()
	}
	return received.UTC()
}
