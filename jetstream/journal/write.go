package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/wait"
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
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
			_ = wait.For(ctx, writeEvery) // what waits at the end is written, too
			_ = j.flush(ctx)              // it keeps what it could not write
			j.tellEnds(ctx)
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
	j.tellEnds(ctx)
	blocks, _ := j.index.unstored(ctx, true) // the rest is read from events
	j.publish(ctx, blocks)
}

// flushSoon lets a search find what was recorded before it. If that can't be
// written, the search still finds the rest.
func (j *Journal) flushSoon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(ackTimeout))
	defer cancel()
	return j.flush(ctx)
}

// Remember stores what is known of events that are about to go: what a crash takes of the journal
// and its index could not be read from them any more. With restate that is also what an earlier
// crash has taken.
func (j *Journal) Remember(ctx context.Context, events []correlation.Envelope, restate bool) error {
	if j.host.LowDisk() {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The disk is nearly full.")
	}
	for _, e := range events {
		if key := e.EventKey + e.Key; key != "" { // otherwise it is gone already
			j.index.add(e.Sequence, entryOf(e.TraceID, key, e.Received, e.Listeners))
		}
	}
	err := j.flush(ctx)
	if restate && err == nil {
		if err = j.restate(ctx, events); err == nil {
			err = j.flush(ctx)
		}
	}
	if err != nil {
		return err
	}
	blocks, err := j.index.unstored(ctx, true)
	if err != nil {
		return err
	}
	if len(j.publish(ctx, blocks)) > 0 {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take the index of the journal.")
	}
	return errors.Join(j.host.SyncStream(stream.Journal, "msgs"), j.host.SyncStream(stream.Index, "msgs"))
}

// restate enters the calls and sent events that only their events tell of.
func (j *Journal) restate(ctx context.Context, events []correlation.Envelope) error {
	w := &eventWalk{search: j.newSearch(sluice.TraceQuery{})}
	for _, event := range events {
		call, e, lines, err := w.read(ctx, event.Sequence)
		if err != nil {
			return err
		}
		isKnown := func(l line) bool { _, _, ok := l.call(); return ok }
		if call == nil || e.Foreign || slices.ContainsFunc(lines, isKnown) {
			continue
		}
		call.Runs, call.Listeners, call.Status = nil, e.Listeners, sluice.StatusBefore(e.Listeners)
		j.mu.Lock()
		if call.Sent || call.ReplayOf != "" {
			j.enterSent(sentEvent{Call: *call, Subject: e.Subject, Origin: e.Origin, sequence: e.Sequence})
		} else {
			j.enterCall(call)
		}
		j.mu.Unlock()
	}
	return nil
}

// flush returns once everything recorded so far is written. While the disk is
// nearly full, nothing is written yet.
func (j *Journal) flush(ctx context.Context) error {
	if j.host.LowDisk() {
		j.rouse()
		return nil
	}
	if err := j.writing.Acquire(ctx, 1); err != nil {
		return stream.NoAnswer(err)
	}
	defer j.writing.Release(1)
	batch, ends := j.drain()
	blocks, _ := j.index.unstored(ctx, false) // the others stay until the next time
	messages := slices.Concat(j.unsent, j.messagesOf(batch), blocks)
	if j.unsent = j.publish(ctx, messages); len(j.unsent) == 0 {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.untold, j.ends = append(j.untold, j.ends[:ends]...), j.ends[ends:]
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

func (j *Journal) noteWritten(subject string) {
	for prefix, written := range j.written {
		if strings.HasPrefix(subject, prefix) {
			written()
		}
	}
}

// TellEnds tells at once what became of calls: figures agree with searches then. It reports whether it
// told everything.
func (j *Journal) TellEnds(ctx context.Context) (all bool) {
	err := j.flushSoon(ctx)
	return j.tellEnds(ctx) && err == nil && !j.host.LowDisk()
}

// tellEnds tells what became of the calls whose last runs were written. What the engine can't say now
// is told later. It reports whether all were told, also those that another goroutine was about to tell.
func (j *Journal) tellEnds(ctx context.Context) (all bool) {
	if j.telling.Acquire(ctx, 1) != nil {
		return false
	}
	defer j.telling.Release(1)
	j.mu.Lock()
	untold := j.untold
	j.untold = nil
	j.mu.Unlock()
	for i, end := range untold {
		if err := j.tellEnd(ctx, end); err != nil {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.untold = append(untold[i:], j.untold...)
			j.rouse()
			return false
		}
	}
	return true
}
