package journal

import (
	"bytes"
	"encoding/json"
	"strconv"

	"sluice"
)

// Kinds of lines. A line is its kind, the event's sequence in base 36, a space
// and JSON. So lines about other events are skipped without decoding.
const (
	lineCall     = 'C' // sluice.Call
	lineSent     = 's' // sentEvent
	lineRun      = 'R' // sluice.RunReport
	lineOutcome  = 'd' // runOutcome
	lineFailed   = 'f' // name of the pipeline that failed on the event
	lineRepeated = 'D' // repeated
	lineRecovery = 'v' // recovery
)

// sentEvent is an event that was not received: one that was sent or replayed.
type sentEvent struct {
	sluice.Call

	Subject  string `json:"subject"`
	sequence uint64
}

// runOutcome is the final outcome of an event and a pipeline.
type runOutcome struct {
	sequence uint64
	TraceID  string        `json:"traceId"`
	Pipeline string        `json:"pipeline"`
	Status   sluice.Status `json:"status"`
}

// A line is one line of a message of the journal.
type line struct {
	kind     byte
	sequence uint64 // of the event; 0 if it belongs to none
	data     []byte
}

// parseLines returns the lines of a message. Malformed ones are left out.
func parseLines(data []byte) (lines []line) {
	for text := range bytes.Lines(data) {
		head, body, ok := bytes.Cut(bytes.TrimSuffix(text, []byte{'\n'}), []byte{' '})
		if !ok || len(head) < 2 {
			continue
		}
		sequence, err := strconv.ParseUint(string(head[1:]), 36, 64)
		if err == nil {
			lines = append(lines, line{head[0], sequence, body})
		}
	}
	return lines
}

// call returns the call that a line is about, or the event or message that was
// sent, and the subject it is stored under.
func (l line) call() (c sluice.Call, subject string, ok bool) {
	switch l.kind {
	case lineCall:
		ok = json.Unmarshal(l.data, &c) == nil
	case lineSent:
		var sent sentEvent
		ok = json.Unmarshal(l.data, &sent) == nil
		return sent.Call, sent.Subject, ok
	}
	return c, sluice.EventPrefix + c.EventKey, ok
}

// run returns the run that a line is about.
func (l line) run() (r sluice.RunReport, ok bool) {
	return r, l.kind == lineRun && json.Unmarshal(l.data, &r) == nil
}
