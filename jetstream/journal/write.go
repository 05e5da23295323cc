package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// maxUnsent bounds the messages that are kept while the engine refuses them.
const maxUnsent = 4096

const (
	// ackTimeout bounds how long the engine may take to acknowledge messages.
	ackTimeout = 2 * time.Second
	// finishTimeout bounds how long writing what is left may hold up a stop.
	finishTimeout = 5 * time.Second
)

// Serve writes entries until ctx ends.
func (j *Journal) Serve(ctx context.Context) {
	tick := time.NewTicker(journalSync)
	defer tick.Stop()
	for _, d := range j.disks {
		defer d.blocks.Close()
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
			j.tellRecovered(ctx)
		}
	}
}

// sync puts what was written on stable storage.
func (j *Journal) sync() {
	for _, d := range j.disks {
		if !d.written.Swap(false) {
			continue
		}
		if err := d.blocks.Sync(); err != nil {
			j.host.Fail(fmt.Errorf("sync of the journal: %w", err))
			return
		}
	}
}

// Finish writes what is left, before the engine stops.
func (j *Journal) Finish() {
	if j.host.Connected() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stretch.Of(finishTimeout))
	defer cancel()
	if err := j.flush(ctx); err != nil {
		return
	}
	j.tellRecovered(ctx)
	j.publish(ctx, j.index.unstored(true))
}

// flushSoon lets a search find what was recorded before it. If that can't be
// written, the search still finds the rest.
func (j *Journal) flushSoon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(ackTimeout))
	defer cancel()
	_ = j.flush(ctx)
}

// flush returns once everything recorded so far is written. While the disk is
// nearly full, nothing is written.
func (j *Journal) flush(ctx context.Context) error {
	if j.host.LowDisk() {
		return nil
	}
	select {
	case <-j.writing:
		defer func() { j.writing <- struct{}{} }()
	case <-ctx.Done():
		return stream.NoAnswer(ctx.Err())
	}
	batch := j.take()
	messages := slices.Concat(j.unsent, j.lines(batch), j.index.unstored(false))
	j.unsent = j.publish(ctx, messages)
	j.mu.Lock()
	j.untold = append(j.untold, batch.repaired...)
	j.mu.Unlock()
	if len(j.unsent) == 0 {
		return nil
	}
	if surplus := len(j.unsent) - maxUnsent; surplus > 0 {
		for _, msg := range j.unsent[:surplus] {
			if !strings.HasPrefix(msg.Subject, stream.IndexPrefix) {
				j.dropped.Add(int64(bytes.Count(msg.Data, []byte{'\n'})))
			}
		}
		j.unsent = j.unsent[surplus:]
	}
	j.rouse()
	return stream.NoAnswer(errors.New("the journal was not written"))
}

// publish hands messages to the engine and returns those it refused.
func (j *Journal) publish(ctx context.Context, messages []*nats.Msg) (unsent []*nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(ackTimeout))
	defer cancel()
	type publication struct {
		*nats.Msg
		ack jetstream.PubAckFuture
	}
	published := make([]publication, 0, len(messages))
	for i, msg := range messages {
		if msg.Header == nil {
			msg.Header = nats.Header{jetstream.MsgIDHeader: {rand.Text()}}
		}
		sealed := *msg // what is not sent stays readable
		sealed.Data = j.host.Seal(msg.Subject, msg.Data)
		ack, err := j.host.SideJS.PublishMsgAsync(&sealed)
		if err != nil {
			unsent = messages[i:len(messages):len(messages)]
			break
		}
		published = append(published, publication{msg, ack})
	}
	for _, p := range published {
		select {
		case <-p.ack.Ok():
			j.noteWritten(p.Subject)
		case <-p.ack.Err():
			unsent = append(unsent, p.Msg)
		case <-ctx.Done():
			select {
			case <-p.ack.Ok(): // it came in time
				j.noteWritten(p.Subject)
			default:
				unsent = append(unsent, p.Msg)
			}
		}
	}
	return unsent
}

// A disk has the files of a stream of the journal.
type disk struct {
	prefix  string // of the stream's subjects
	blocks  *durable.Blocks
	written atomic.Bool // since the last sync
}

func (j *Journal) noteWritten(subject string) {
	for _, d := range j.disks {
		if strings.HasPrefix(subject, d.prefix) {
			d.written.Store(true)
		}
	}
}

// TellRecovered tells at once of the calls that have recovered, so that figures agree with
// what a search finds.
func (j *Journal) TellRecovered(ctx context.Context) {
	j.flushSoon(ctx)
	j.tellRecovered(ctx)
}

// tellRecovered tells of the calls that have recovered by the replays written last. Nothing is
// written meanwhile, so no call is told of twice.
func (j *Journal) tellRecovered(ctx context.Context) {
	select {
	case <-j.writing:
		defer func() { j.writing <- struct{}{} }()
	case <-ctx.Done():
		return
	}
	j.mu.Lock()
	untold := j.untold
	j.untold = nil
	j.mu.Unlock()
	for i, r := range untold {
		if end, ok := j.recovered(ctx, r.CorrelationID, untold[i:]); ok {
			j.about.Recovered(end)
		}
	}
}

// recovered returns the end of a call that has recovered by the first of some replays. It
// returns false if pipelines still fail on the call, or if it had recovered before.
func (j *Journal) recovered(ctx context.Context, correlationID string, replays []recovery) (end sluice.CallEnd, ok bool) {
	sequence := j.sequenceOf(correlationID)
	w := &eventWalk{search: j.newSearch(sluice.TraceQuery{})}
	if sequence == 0 || w.loadChunk(ctx, sequence) != nil {
		return end, false
	}
	lines := w.chunk.about(sequence)
	i := slices.IndexFunc(lines, func(l line) bool { return l.kind == lineCall })
	if i < 0 {
		return end, false // it was sent, not received
	}
	call, _, ok := lines[i].call()
	if !ok || call.CorrelationID != correlationID {
		return end, false
	}
	without := func(replays []recovery) []line {
		return slices.DeleteFunc(slices.Clone(lines), func(l line) bool {
			var r recovery
			return l.kind == lineRecovery && json.Unmarshal(l.data, &r) == nil && slices.Contains(replays, r)
		})
	}
	before, after := settled(without(replays), correlationID, call.TraceID), settled(without(replays[1:]), correlationID, call.TraceID)
	failed := func(settled map[string]sluice.Status) bool {
		return slices.ContainsFunc(call.Listeners, func(name string) bool {
			return settled[name] != sluice.StatusOK && settled[name] != sluice.StatusRecovered
		})
	}
	return sluice.CallEnd{EventKey: call.EventKey, TraceID: call.TraceID, Status: sluice.StatusRecovered}, failed(before) && !failed(after)
}

// Hide removes what runs of events sent, got and said, by the sequences and trace ids of
// the events. With the sequence 0 it is the run that a user has started. That there were
// runs stays. With overwrite the bytes on disk are overwritten.
func (j *Journal) Hide(ctx context.Context, events map[uint64]string, overwrite bool) error {
	j.flushSoon(ctx)
	done := make(map[string]bool)
	for sequence, traceID := range events {
		name, subject := stream.Journal, chunkSubject(sequence)
		if sequence == 0 {
			name, subject = stream.Loose, looseSubject(traceID)
		}
		if done[subject] {
			continue
		}
		done[subject] = true
		if err := j.hide(ctx, name, subject, events, overwrite); err != nil {
			return err
		}
	}
	return nil
}

// hide replaces the messages of a subject that have runs of the events.
func (j *Journal) hide(ctx context.Context, name, subject string, events map[uint64]string, overwrite bool) error {
	from := j.chunks
	if name == stream.Loose {
		from = j.loose
	}
	for next := uint64(1); ; {
		const most = 100
		messages, err := j.host.Fetch(ctx, name, stream.Range{Sequence: next, Subject: subject, Count: most})
		if err != nil {
			return err
		}
		for _, msg := range messages {
			next = msg.Sequence + 1
			data, changed := withoutRuns(msg.Data, events)
			if !changed {
				continue
			}
			if len(j.publish(ctx, []*nats.Msg{{Subject: subject, Data: data}})) > 0 {
				return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take the journal.")
			}
			if err := stream.Remove(ctx, from, msg.Sequence, overwrite); err != nil {
				return err
			}
		}
		if len(messages) == 0 {
			return nil
		}
	}
}

// withoutRuns returns a message with nothing but the course of the events' runs, and
// whether that is another one.
func withoutRuns(data []byte, events map[uint64]string) (short []byte, changed bool) {
	for _, l := range parseLines(data) {
		run, ok := l.run()
		if traceID, meant := events[l.sequence]; ok && meant && run.TraceID == traceID {
			hideRun(&run)
			l.kind, l.data = lineRun, run.AppendJSON(nil)
		}
		short = strconv.AppendUint(append(short, l.kind), l.sequence, 36)
		short = append(append(append(short, ' '), l.data...), '\n')
	}
	return short, !bytes.Equal(short, data)
}

// hideRun removes what a run sent, got and said.
func hideRun(r *sluice.RunReport) {
	r.HidePayloads()
	if r.Error != nil {
		shown := *r.Error
		shown.Detail, shown.Snippet, shown.Parameter, shown.Errors = "", "", "", nil
		r.Error = &shown
	}
}
