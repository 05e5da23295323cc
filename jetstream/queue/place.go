package queue

import (
	"strings"

	"sluice/jetstream/stream"
)

// workSubject returns the subject of what is kept of an event, by its kind and its place: the binding, the event and
// the step, with dots between them.
func workSubject(place, kind string) string {
	at := strings.LastIndexByte(place, '.')
	return stream.WaitingPrefix + place[:at+1] + kind + place[at+1:]
}

// keptPlace returns the place of what is kept of an event, and its kind.
func keptPlace(subject string) (place, kind string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(subject, stream.WaitingPrefix), ".")
	if len(parts) != 4 {
		return "", "", false
	}
	return parts[0] + "." + parts[1] + "." + parts[3], parts[2] + ".", true
}

// eventPlace returns the binding and the event of a place, as one text.
func eventPlace(place string) string { return place[:strings.LastIndexByte(place, '.')] }

// eventOf returns the binding and the event of a place.
func eventOf(place string) (binding, key string) {
	binding, rest, _ := strings.Cut(place, ".")
	key, _, _ = strings.Cut(rest, ".")
	return binding, key
}

// validPlace reports whether a text that somebody gave can be a place.
func validPlace(place string) bool {
	_, key := eventOf(place)
	return strings.Count(place, ".") == 2 && !strings.ContainsAny(place, "*> \t\r\n") &&
		!strings.Contains("."+place+".", "..") && sequenceOf(key) > 0
}

// stepOf returns the step of a place.
func stepOf(place string) string { return place[strings.LastIndexByte(place, '.')+1:] }

// cutLease returns the place of the item that a lease is of, "" if it is none, and what tells it from
// others on the item.
func cutLease(lease string) (place, its string) {
	at := max(0, strings.LastIndexByte(lease, '.'))
	return lease[:at], strings.TrimPrefix(lease[at:], ".")
}
