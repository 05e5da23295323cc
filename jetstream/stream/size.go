package stream

import (
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// How large messages may be, in bytes. The engine refuses a larger one however often it is
// tried, and with it the batch that it is in. So whoever makes a message keeps to the bound
// of its kind, and writers refuse the rest before it joins a batch:
//
//	event              MaxEvent    the call is refused: payload-too-large
//	waiting event      MaxData     the event keeps its place with the consumer
//	spooled call       MaxData     can't be: an event and less than 64 KiB
//	outcome            MaxData     the value is at most 4 MiB, what is said of a failure is cut
//	dead letter        MaxData     the event is left out: eventCut
//	line of a journal  MaxLine     what a run sent and got is left out: cut
//	quarantined call   MaxData     can't be: a body of 4 MiB in base64, and its headers
//	record, audit      MaxData     the change is refused: message-too-large
const (
	// MaxMessage is what the engine takes, with headers: a payload of 4 MiB is 5.6 MB
	// in base64, plus its headers.
	MaxMessage = 8 << 20
	// MaxData is what a message may have besides the headers that writers add.
	MaxData = MaxMessage - 4<<10
	// MaxEvent leaves room for what a dead letter, the waiting room and a spool write
	// before an event.
	MaxEvent = MaxMessage - 64<<10
	// MaxLine is how long a line of the journal may be: it may follow 512 KiB of others.
	MaxLine = 4 << 20
	// maxSaid is how much is kept of what is said of a failure. Escapes may make it six
	// times as long.
	maxSaid = 4 << 10
)

// Fits refuses a message that can never be stored.
func Fits(what string, size int) error {
	if size <= MaxData {
		return nil
	}
	return sluice.CodeMessageTooLarge.Errorf(
		"%s has %d bytes, more than the %d that can be stored; make it smaller, or split it.", what, size, MaxData)
}

// Encode appends the JSON of an event, unless it is too large.
func Encode(e *sluice.Event, space []byte) ([]byte, error) {
	data := e.AppendJSON(space)
	if len(data) > MaxEvent {
		return nil, sluice.CodePayloadTooLarge.Errorf("The call makes an event of more than %d bytes.",
			MaxEvent)
	}
	return data, nil
}

// CutProblem returns what is said of a failure, cut where it is long.
func CutProblem(p sluice.Problem) sluice.Problem {
	for _, text := range []*string{&p.Detail, &p.Snippet, &p.Step, &p.Parameter} {
		*text = CutText(*text)
	}
	if errors, err := value.Marshal(p.Errors); err != nil || len(errors) > maxSaid {
		p.Errors = nil
	}
	return p
}

// CutText cuts a long text, and marks where.
func CutText(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	end := maxSaid
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (cut)"
}
