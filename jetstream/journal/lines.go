package journal

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"time"

	"sluice"
	"sluice/jetstream/stream"
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

	Subject  string         `json:"subject"`
	Origin   *sluice.Origin `json:"origin,omitempty"`
	sequence uint64
}

// runOutcome is the final outcome of an event and a pipeline.
type runOutcome struct {
	TraceID  string        `json:"traceId"`
	Pipeline string        `json:"pipeline"`
	Status   sluice.Status `json:"status"`
	Stored   uint64        `json:"stored,omitempty"` // sequence of the outcome itself
	Sent     []uint64      `json:"sent,omitempty"`   // events that the run has sent
	Time     time.Time     `json:"time,omitzero"`    // of one that was passed over
}

// report returns what stands for the run of a pipeline that did not want the event.
func (o *runOutcome) report() sluice.RunReport {
	return sluice.RunReport{
		Pipeline: o.Pipeline, Status: o.Status, Attempt: 1, Delivery: 1, Started: o.Time, Steps: []sluice.StepReport{},
	}
}

// repeated are the duplicates of one delivery since entries were last written: one
// line, however often a sender repeats itself.
type repeated struct {
	sluice.Duplicate

	TraceID       string `json:"traceId"` // of the first call
	correlationID string
}

// recovery says that a replay of an event went well in a pipeline that may have failed
// on the event.
type recovery struct {
	CorrelationID string `json:"correlationId"` // of the event
	Pipeline      string `json:"pipeline"`
	TraceID       string `json:"traceId"` // of the replay

	Stored uint64   `json:"stored,omitempty"` // as in runOutcome
	Sent   []uint64 `json:"sent,omitempty"`
}

// An ending is the end of a run on which the state of a call may depend.
type ending struct {
	origin string // correlation id of the call's event
	stored uint64 // sequence of the outcome; 0: there is none
	replay bool
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

// decode returns what a line says, if it is of a kind.
func decode[T any](l line, kind byte) (said T, ok bool) {
	ok = l.kind == kind && json.Unmarshal(l.data, &said) == nil
	return said, ok
}

// call returns the call that a line is about, or the event or message that was
// sent, and the subject it is stored under.
func (l line) call() (c sluice.Call, subject string, ok bool) {
	if sent, ok := decode[sentEvent](l, lineSent); ok {
		sent.Sent, sent.Call.Origin = sent.ReplayOf == "", sent.Origin
		return sent.Call, sent.Subject, true
	}
	c, ok = decode[sluice.Call](l, lineCall)
	return c, sluice.EventPrefix + c.EventKey, ok
}

// run returns the run that a line is about.
func (l line) run() (sluice.RunReport, bool) { return decode[sluice.RunReport](l, lineRun) }

// found returns a call as a search or a tail shows it: without listeners, and
// with an empty list of runs.
func found(c sluice.Call) sluice.Call {
	c.Listeners, c.Runs = nil, []sluice.RunReport{}
	return c
}

// addRun adds a run to the call that it belongs to.
func addRun(c *sluice.Call, run sluice.RunReport) {
	run.TraceID, run.CorrelationID, run.EventKey, run.Type = "", "", "", "" // the call has them
	run.User = ""
	c.Runs = append(c.Runs, run)
}

const (
	failedPrefix = stream.ChunkPrefix + "failed." // before the number of a block of the index

	chunkEvents = 64 // events whose lines share a subject
	slots       = 64 // subjects for what belongs to no event
)

// chunkSubject returns the subject of the chunk that an event belongs to.
func chunkSubject(sequence uint64) string {
	return stream.ChunkPrefix + strconv.FormatUint(sequence/chunkEvents, 10)
}

// failedSubject returns the subject of the list of failed events in the same
// block of the index.
func failedSubject(sequence uint64) string {
	return failedPrefix + strconv.FormatUint(sequence/indexed, 10)
}

// looseSubject returns the subject of what belongs to no event.
func looseSubject(traceID string) string {
	slot := crc32.ChecksumIEEE([]byte(sluice.TraceOwner(traceID))) % slots
	return stream.LoosePrefix + strconv.FormatUint(uint64(slot), 10)
}
