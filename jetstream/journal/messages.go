package journal

import (
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// maxLines is about how long a message of the journal may become.
const maxLines = 512 << 10

// messagesOf returns what waits to be written as messages.
func (j *Journal) messagesOf(p pending) []*nats.Msg {
	w := &lineWriter{erasing: j.about.Erasing, current: make(map[string]*nats.Msg)}
	for _, line := range p.lines {
		line(w)
	}
	for _, r := range p.repeated {
		if sequence := j.sequenceOf(r.correlationID); sequence > 0 { // otherwise the first call is still in a spool
			w.add(lineRepeated, sequence, r.TraceID, &r)
		}
	}
	return w.messages
}

// withoutExchanges returns a report that is cut so far that it fits in a line.
func withoutExchanges(r *sluice.RunReport) *sluice.RunReport {
	short := *r
	short.Cut, short.Steps = true, slices.Clone(r.Steps)
	for i := range short.Steps {
		short.Steps[i].HTTP = nil
	}
	if r.Error != nil {
		cut := stream.CutProblem(*r.Error)
		short.Error = &cut
	}
	return &short
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
	erasing  func(traceID string) bool
	messages []*nats.Msg
	current  map[string]*nats.Msg // the message that takes lines, by subject
}

// add adds a line with the JSON of what it says, to which a pointer leads. Of a run that is too long for
// a line, the exchanges are left out; of a call that is being erased, all that it held.
func (w *lineWriter) add(kind byte, sequence uint64, traceID string, said any) {
	subject := chunkSubject(sequence)
	if sequence == 0 {
		subject = looseSubject(traceID)
	}
	msg := w.beginIn(subject, kind, sequence)
	start := len(msg.Data)
	msg.Data = value.AppendRecord(msg.Data, said)
	if r, ok := said.(*sluice.RunReport); ok && len(msg.Data)-start > stream.MaxLine {
		msg.Data = value.AppendRecord(msg.Data[:start], withoutExchanges(r))
	}
	if w.erasing(traceID) { // what was written before, its erasure finds
		l := line{kind, sequence, slices.Clone(msg.Data[start:])}
		msg.Data = append(msg.Data[:start], l.without(traceID, true).data...)
	}
	msg.Data = append(msg.Data, '\n')
}

// beginIn begins a line of a subject, and returns the message that it is in.
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
