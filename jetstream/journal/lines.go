package journal

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

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

// recovery says that a replay of an event went well in a pipeline that may have failed
// on the event.
type recovery struct {
	CorrelationID string `json:"correlationId"` // of the event
	Pipeline      string `json:"pipeline"`
	TraceID       string `json:"traceId"` // of the replay
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
		text, err := value.Marshal(s)
		if err != nil {
			continue // can't happen with our values
		}
		msg := w.begin(lineSent, s.sequence, s.TraceID)
		msg.Data = append(append(msg.Data, text...), '\n')
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
		text, err := value.Marshal(r)
		sequence := j.sequenceOf(r.correlationID)
		if err != nil || sequence == 0 { // the first call is still in a spool
			continue
		}
		msg := w.begin(lineRepeated, sequence, r.TraceID)
		msg.Data = append(append(msg.Data, text...), '\n')
	}
	for _, r := range p.repaired {
		text, err := value.Marshal(r)
		sequence := j.sequenceOf(r.CorrelationID)
		if err != nil || sequence == 0 {
			continue
		}
		msg := w.begin(lineRecovery, sequence, r.TraceID)
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

// withoutExchanges returns a report that is cut so far that it fits in a line.
func withoutExchanges(r *sluice.RunReport) *sluice.RunReport {
	short := *r
	short.Cut, short.Steps = true, slices.Clone(r.Steps)
	for i := range short.Steps {
		short.Steps[i].HTTP = nil
	}
	if r.Error != nil {
		shown := stream.CutProblem(*r.Error)
		short.Error = &shown
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

// call returns the call that a line is about, or the event or message that was
// sent, and the subject it is stored under.
func (l line) call() (c sluice.Call, subject string, ok bool) {
	switch l.kind {
	case lineCall:
		ok = json.Unmarshal(l.data, &c) == nil
	case lineCall010:
		var old call010
		ok = json.Unmarshal(l.data, &old) == nil
		c = old.call()
	case lineSent:
		var sent sentEvent
		ok = json.Unmarshal(l.data, &sent) == nil
		sent.Status = sluice.StatusBefore(sent.Listeners) // version 0.1.0 wrote none
		return sent.Call, sent.Subject, ok
	}
	return c, sluice.EventPrefix + c.EventKey, ok
}

// run returns the run that a line is about.
func (l line) run() (r sluice.RunReport, ok bool) {
	switch l.kind {
	case lineRun:
		return r, json.Unmarshal(l.data, &r) == nil
	case lineRun010:
		var old run010
		ok = json.Unmarshal(l.data, &old) == nil
		return old.run(), ok
	}
	return r, false
}

// Kinds of lines that version 0.1.0 wrote. Such lines are kept as long as their
// events.
const (
	lineCall010 = 'c' // call010
	lineRun010  = 'r' // run010
)

// call010 is a call as version 0.1.0 wrote it: the status is that of the HTTP
// answer, and times are in nanoseconds.
type call010 struct {
	sluice.Call

	Status   int           `json:"status"`
	Duration time.Duration `json:"duration"`
}

func (o *call010) call() sluice.Call {
	c := o.Call
	c.Status, c.StatusCode, c.Duration = sluice.StatusBefore(c.Listeners), o.Status, sluice.Milliseconds(o.Duration)
	if c.CorrelationID == "" {
		c.Status = sluice.StatusRejected
	}
	return c
}

// run010 is a run as version 0.1.0 wrote it: times are in nanoseconds.
type run010 struct {
	sluice.RunReport

	Duration time.Duration `json:"duration"`
	Steps    []step010     `json:"steps"`
}

type step010 struct {
	sluice.StepReport

	Started  time.Duration `json:"started"`
	Duration time.Duration `json:"duration"`
}

func (o *run010) run() sluice.RunReport {
	r := o.RunReport
	r.Duration, r.Steps = sluice.Milliseconds(o.Duration), make([]sluice.StepReport, len(o.Steps))
	for i, s := range o.Steps {
		r.Steps[i] = s.StepReport
		r.Steps[i].Started, r.Steps[i].Duration = sluice.Milliseconds(s.Started), sluice.Milliseconds(s.Duration)
	}
	return r
}

// maxDuplicates bounds the duplicates that a call is shown with: the newest.
const maxDuplicates = 50

// repeated are the duplicates of one delivery since entries were last written: one
// line, however often a sender repeats itself.
type repeated struct {
	sluice.Duplicate

	TraceID       string `json:"traceId"` // of the first call
	correlationID string
}

// Repeated records a call whose delivery was accepted before: its ids are those
// of the first call. It never waits.
func (j *Journal) Repeated(c sluice.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := c.TraceID + " " + c.Quarantine // a quarantined call has a line of its own
	r, known := j.pending.repeated[key]
	if !known && len(j.pending.repeated) >= maxPending {
		j.dropped.Add(1)
		return
	}
	if j.pending.repeated == nil {
		j.pending.repeated = make(map[string]repeated)
	}
	j.pending.repeated[key] = repeated{
		Duplicate: sluice.Duplicate{Time: c.Time, RemoteAddr: c.RemoteAddr, Quarantine: c.Quarantine, Count: r.Count + 1},
		TraceID:   c.TraceID, correlationID: c.CorrelationID,
	}
	j.rouse()
}

// duplicates returns the duplicates of a call that lines have.
func duplicates(lines []line, traceID string) (found []sluice.Duplicate) {
	for _, l := range lines {
		var r repeated
		if l.kind == lineRepeated && json.Unmarshal(l.data, &r) == nil && r.TraceID == traceID {
			found = append(found, r.Duplicate)
		}
	}
	slices.SortStableFunc(found, func(a, b sluice.Duplicate) int { return a.Time.Compare(b.Time) })
	return found[max(0, len(found)-maxDuplicates):]
}
