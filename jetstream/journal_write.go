package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	pagePrefix  = "svc.journal.page." // before the number of a page
	loosePrefix = "svc.loose."        // before the number of a slot

	paged = 64 // events on a page
	slots = 64 // subjects of what belongs to no event

	// maxLines is how long a message of the journal becomes.
	maxLines = 512 << 10
	// maxUnsent bounds the messages that are kept for an engine that takes
	// none at the moment.
	maxUnsent = 4096
)

// Kinds of lines. A line is its kind, the event's place in base 36, a space and
// JSON: so lines about other events are passed over without reading them.
const (
	lineCall    = 'c' // sluice.Call
	lineSent    = 's' // sentEvent
	lineRun     = 'r' // sluice.RunReport
	lineOutcome = 'd' // runOutcome
)

// sentEvent is an event that is no call: one that was sent or replayed.
type sentEvent struct {
	sequence  uint64
	Subject   string    `json:"subject"`
	TraceID   string    `json:"traceId"`
	EventKey  string    `json:"eventKey,omitempty"`
	Key       string    `json:"key,omitempty"`
	ReplayOf  string    `json:"replayOf,omitempty"`
	Time      time.Time `json:"time"`
	Listeners []string  `json:"listeners,omitempty"`
	Size      int       `json:"size"`
}

// traced gives the event as it is shown, without what pipelines made of it.
func (s *sentEvent) traced() sluice.TracedCall {
	status := sluice.StatusOK
	if len(s.Listeners) > 0 {
		status = sluice.StatusProcessing
	}
	return sluice.TracedCall{
		TraceID:  s.TraceID,
		EventKey: s.EventKey,
		Key:      s.Key,
		ReplayOf: s.ReplayOf,
		Time:     s.Time.UTC(),
		Status:   status,
		Size:     s.Size,
		Runs:     []sluice.TracedRun{},
	}
}

// runOutcome is what a pipeline has made of an event for good.
type runOutcome struct {
	sequence uint64
	TraceID  string        `json:"traceId"`
	Pipeline string        `json:"pipeline"`
	Status   sluice.Status `json:"status"`
}

// run writes what is entered, until ctx ends.
func (j *Journal) run(ctx context.Context) {
	tick := time.NewTicker(journalSync)
	defer tick.Stop()
	for _, d := range j.disks {
		defer d.blocks.close()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			j.sync()
		case <-j.wake:
			pause := time.NewTimer(journalEvery)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
			_ = j.flush(ctx) // it keeps what it could not write
		}
	}
}

// sync puts what was written on stable storage.
func (j *Journal) sync() {
	for _, d := range j.disks {
		if !d.written.Swap(false) {
			continue
		}
		if err := d.blocks.sync(); err != nil {
			j.engine.fail(fmt.Errorf("sync of the journal: %w", err))
			return
		}
	}
}

// finish writes what is left, before the engine stops.
func (j *Journal) finish() {
	if j.engine.connected() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := j.flush(ctx); err != nil {
		return
	}
	j.publish(ctx, j.index.unstored(true))
}

// flushSoon lets a search find what was entered before it. If that can't be
// written, there is still much to find.
func (j *Journal) flushSoon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	_ = j.flush(ctx)
}

// flush returns once everything entered so far is written. While the disk is
// nearly full, nothing is.
func (j *Journal) flush(ctx context.Context) error {
	if j.engine.lowDisk.Load() {
		return nil
	}
	select {
	case <-j.writing:
		defer func() { j.writing <- struct{}{} }()
	case <-ctx.Done():
		return noAnswer(ctx.Err())
	}
	messages := slices.Concat(j.unsent, j.lines(j.take()), j.index.unstored(false))
	j.unsent = j.publish(ctx, messages)
	if len(j.unsent) == 0 {
		return nil
	}
	if surplus := len(j.unsent) - maxUnsent; surplus > 0 {
		for _, msg := range j.unsent[:surplus] {
			j.dropped.Add(int64(bytes.Count(msg.Data, []byte{'\n'})))
		}
		j.unsent = j.unsent[surplus:]
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return noAnswer(errors.New("the journal was not written"))
}

// publish hands messages to the engine and gives back those it did not take.
func (j *Journal) publish(ctx context.Context, messages []*nats.Msg) (unsent []*nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	acks := make([]jetstream.PubAckFuture, 0, len(messages))
	for i, msg := range messages {
		if msg.Header == nil {
			msg.Header = nats.Header{jetstream.MsgIDHeader: {rand.Text()}}
		}
		ack, err := j.js.PublishMsgAsync(msg)
		if err != nil {
			unsent = messages[i:len(messages):len(messages)]
			break
		}
		acks = append(acks, ack)
	}
	for i, ack := range acks {
		select {
		case <-ack.Ok():
			j.noteWritten(messages[i].Subject)
		case <-ack.Err():
			unsent = append(unsent, messages[i])
		case <-ctx.Done():
			unsent = append(unsent, messages[i])
		}
	}
	return unsent
}

// A disk is what a stream of the journal is kept on.
type disk struct {
	prefix  string // of the stream's subjects
	blocks  *blocks
	written atomic.Bool // since the last sync
}

func (j *Journal) noteWritten(subject string) {
	for _, d := range j.disks {
		if strings.HasPrefix(subject, d.prefix) {
			d.written.Store(true)
		}
	}
}

// lines gives entries as messages.
func (j *Journal) lines(p pending) []*nats.Msg {
	w := &lineWriter{open: make(map[string]*nats.Msg)}
	for i := range p.calls {
		c := &p.calls[i]
		msg := w.begin(lineCall, j.placeOf(c.CorrelationID), c.TraceID)
		msg.Data = append(c.AppendJSON(msg.Data), '\n')
	}
	for _, s := range p.sent {
		w.add(lineSent, s.sequence, s.TraceID, s)
	}
	for _, r := range p.runs {
		w.add(lineRun, j.placeOf(r.CorrelationID), r.TraceID, r)
	}
	for _, o := range p.outcomes {
		w.add(lineOutcome, o.sequence, o.TraceID, o)
	}
	return w.messages
}

// placeOf gives the sequence of the event that a correlation id leads to, 0 for
// none.
func (j *Journal) placeOf(correlationID string) uint64 {
	sequence, _, ok := j.ids.parse(correlationID)
	if !ok {
		return 0
	}
	return sequence
}

// A lineWriter gathers lines in messages.
type lineWriter struct {
	messages []*nats.Msg
	open     map[string]*nats.Msg // that lines are added to, by subject
}

// begin gives the message for a line, which it has begun.
func (w *lineWriter) begin(kind byte, sequence uint64, traceID string) *nats.Msg {
	subject := pageSubject(sequence)
	if sequence == 0 {
		subject = looseSubject(traceID)
	}
	msg := w.open[subject]
	if msg == nil || len(msg.Data) > maxLines {
		msg = &nats.Msg{Subject: subject}
		w.open[subject] = msg
		w.messages = append(w.messages, msg)
	}
	msg.Data = append(msg.Data, kind)
	msg.Data = strconv.AppendUint(msg.Data, sequence, 36)
	msg.Data = append(msg.Data, ' ')
	return msg
}

func (w *lineWriter) add(kind byte, sequence uint64, traceID string, entry any) {
	text, err := json.Marshal(entry)
	if err != nil {
		return // no value of ours
	}
	msg := w.begin(kind, sequence, traceID)
	msg.Data = append(append(msg.Data, text...), '\n')
}

// pageSubject gives where the journal has what belongs to an event.
func pageSubject(sequence uint64) string {
	return pagePrefix + strconv.FormatUint(sequence/paged, 10)
}

// looseSubject gives where the journal has what belongs to no event.
func looseSubject(traceID string) string {
	return loosePrefix + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(sluice.TraceOwner(traceID)))%slots), 10)
}

// A line is one line of a message of the journal.
type line struct {
	kind     byte
	sequence uint64 // of the event; 0 if it belongs to none
	data     []byte
}

// parseLines gives the lines of a message. What is no line is left out.
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
