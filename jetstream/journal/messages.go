package journal

import (
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// maxLines is about how long a message of the journal may become.
const maxLines = 512 << 10

// messagesOf returns entries as messages.
func (j *Journal) messagesOf(p pending) []*nats.Msg {
	w := &lineWriter{current: make(map[string]*nats.Msg)}
	for i := range p.calls {
		c := &p.calls[i]
		msg := w.begin(lineCall, j.sequenceOf(c.CorrelationID), c.TraceID)
		msg.Data = append(c.AppendJSON(msg.Data), '\n')
	}
	for i := range p.sent {
		w.add(lineSent, p.sent[i].sequence, p.sent[i].TraceID, &p.sent[i])
	}
	for i := range p.runs {
		r := &p.runs[i]
		msg := w.begin(lineRun, j.sequenceOf(r.CorrelationID), r.TraceID)
		start := len(msg.Data)
		if msg.Data = r.AppendJSON(msg.Data); len(msg.Data)-start > stream.MaxLine {
			msg.Data = withoutExchanges(r).AppendJSON(msg.Data[:start])
		}
		msg.Data = append(msg.Data, '\n')
	}
	for _, r := range p.repeated {
		if sequence := j.sequenceOf(r.correlationID); sequence > 0 { // otherwise the first call is still in a spool
			w.add(lineRepeated, sequence, r.TraceID, r)
		}
	}
	for _, r := range p.repaired {
		if sequence := j.sequenceOf(r.CorrelationID); sequence > 0 {
			w.add(lineRecovery, sequence, r.TraceID, r)
		}
	}
	for i := range p.outcomes {
		o := &p.outcomes[i]
		msg := w.begin(lineOutcome, o.sequence, o.TraceID)
		msg.Data = append(o.appendJSON(msg.Data), '\n')
		if o.Status == sluice.StatusError {
			for _, sequence := range []uint64{o.sequence, o.origin} {
				if sequence > 0 {
					msg := w.beginIn(failedSubject(sequence), lineFailed, sequence)
					msg.Data = append(append(msg.Data, o.Pipeline...), '\n')
				}
			}
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
	messages []*nats.Msg
	current  map[string]*nats.Msg // the message that takes lines, by subject
}

// add adds a line with the JSON of an entry.
func (w *lineWriter) add(kind byte, sequence uint64, traceID string, entry any) {
	text, err := value.Marshal(entry)
	if err != nil {
		return // can't happen with our values
	}
	msg := w.begin(kind, sequence, traceID)
	msg.Data = append(append(msg.Data, text...), '\n')
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

func (o *runOutcome) appendJSON(b []byte) []byte {
	b = value.AppendString(append(b, `{"traceId":`...), o.TraceID)
	b = value.AppendString(append(b, `,"pipeline":`...), o.Pipeline)
	b = value.AppendString(append(b, `,"status":`...), string(o.Status))
	b = strconv.AppendUint(append(b, `,"stored":`...), o.Stored, 10)
	if !o.Time.IsZero() {
		b = o.Time.AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano+`"`)
	}
	return append(sluice.AppendSequences(b, o.Sent), '}')
}
