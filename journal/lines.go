package journal

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"strconv"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	failedPrefix = stream.ChunkPrefix + "failed." // before the number of a block of the index

	chunkEvents = 64
	slots       = 64 // subjects for what belongs to no event

	// maxLines is about how long a message of the journal may become.
	maxLines = 512 << 10
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

func (o *runOutcome) appendJSON(b []byte) []byte {
	b = value.AppendString(append(b, `{"traceId":`...), o.TraceID)
	b = value.AppendString(append(b, `,"pipeline":`...), o.Pipeline)
	b = value.AppendString(append(b, `,"status":`...), string(o.Status))
	return append(b, '}')
}

// lines returns entries as messages.
func (j *Journal) lines(p pending) []*nats.Msg {
	w := &lineWriter{current: make(map[string]*nats.Msg)}
	for i := range p.calls {
		c := &p.calls[i]
		msg := w.begin(lineCall, j.sequenceOf(c.CorrelationID), c.TraceID)
		msg.Data = append(c.AppendJSON(msg.Data), '\n')
	}
	for i := range p.sent {
		s := &p.sent[i]
		text, err := json.Marshal(s)
		if err != nil {
			continue // can't happen with our values
		}
		msg := w.begin(lineSent, s.sequence, s.TraceID)
		msg.Data = append(append(msg.Data, text...), '\n')
	}
	for i := range p.runs {
		r := &p.runs[i]
		msg := w.begin(lineRun, j.sequenceOf(r.CorrelationID), r.TraceID)
		msg.Data = append(r.AppendJSON(msg.Data), '\n')
	}
	for _, r := range p.repeated {
		text, err := json.Marshal(r)
		sequence := j.sequenceOf(r.correlationID)
		if err != nil || sequence == 0 { // the first call is still in a spool
			continue
		}
		msg := w.begin(lineRepeated, sequence, r.TraceID)
		msg.Data = append(append(msg.Data, text...), '\n')
	}
	for i := range p.outcomes {
		o := &p.outcomes[i]
		msg := w.begin(lineOutcome, o.sequence, o.TraceID)
		msg.Data = append(o.appendJSON(msg.Data), '\n')
		if o.Status == sluice.StatusError {
			msg := w.beginIn(failedSubject(o.sequence), lineFailed, o.sequence)
			msg.Data = append(append(msg.Data, o.Pipeline...), '\n')
		}
	}
	return w.messages
}

// sequenceOf returns the sequence of the event that a correlation id leads to,
// 0 for none.
func (j *Journal) sequenceOf(correlationID string) uint64 {
	if reference, ok := j.ids.Parse(correlationID); ok {
		return reference.Sequence
	}
	return 0
}

// A lineWriter gathers lines in messages.
type lineWriter struct {
	messages []*nats.Msg
	current  map[string]*nats.Msg // the message that takes lines, by subject
}

// begin begins a line and returns the message that it is in.
func (w *lineWriter) begin(kind byte, sequence uint64, traceID string) *nats.Msg {
	subject := chunkSubject(sequence)
	if sequence == 0 {
		subject = looseSubject(traceID)
	}
	return w.beginIn(subject, kind, sequence)
}

// beginIn does the same for a line of a given subject.
func (w *lineWriter) beginIn(subject string, kind byte, sequence uint64) *nats.Msg {
	msg := w.current[subject]
	if msg == nil || len(msg.Data) > maxLines {
		msg = &nats.Msg{Subject: subject}
		w.current[subject] = msg
		w.messages = append(w.messages, msg)
	}
	msg.Data = append(msg.Data, kind)
	msg.Data = strconv.AppendUint(msg.Data, sequence, 36)
	msg.Data = append(msg.Data, ' ')
	return msg
}

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
	return stream.LoosePrefix + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(sluice.TraceOwner(traceID)))%slots), 10)
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
