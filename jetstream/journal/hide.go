package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Hide removes what runs of events sent, got and said, by the sequences and trace ids of
// the events. With the sequence 0 it is the run that a user has started. That there were
// runs stays. With overwrite the bytes on disk are overwritten, and what could not be written yet is an
// error: it would be written afterwards.
func (j *Journal) Hide(ctx context.Context, events map[uint64]string, overwrite bool) error {
	if err := j.hiding.Acquire(ctx, 1); err != nil {
		return stream.NoAnswer(err)
	}
	defer j.hiding.Release(1) // two at once would each write again what the other removes
	if err := j.flush(ctx); err != nil && overwrite {
		return err
	}
	done := make(map[string]bool)
	for sequence, traceID := range events {
		from, subject := j.chunks, chunkSubject(sequence)
		if sequence == 0 {
			from, subject = j.loose, looseSubject(traceID)
		}
		if done[subject] {
			continue
		}
		done[subject] = true
		if err := j.hide(ctx, from, subject, events, overwrite); err != nil {
			return err
		}
	}
	return nil
}

// hide replaces the messages of a subject that have runs of the events. The new ones are synced
// before the old ones go: otherwise a kill could take both.
func (j *Journal) hide(
	ctx context.Context, from jetstream.Stream, subject string, events map[uint64]string, overwrite bool,
) error {
	name := from.CachedInfo().Config.Name
	var old []uint64
	for msg, err := range j.host.All(ctx, name, stream.Range{Sequence: 1, Subject: subject, Count: 100}) {
		if err != nil {
			return err
		}
		data, changed := withoutPayloads(msg.Data, events, overwrite)
		if !changed {
			continue
		}
		if len(j.publish(ctx, []*nats.Msg{{Subject: subject, Data: data}})) > 0 {
			return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take the journal.")
		}
		old = append(old, msg.Sequence)
	}
	if len(old) == 0 {
		return nil
	}
	if err := j.host.SyncStream(name, "msgs"); err != nil {
		return err
	}
	for _, sequence := range old {
		if err := stream.Remove(ctx, from, sequence, overwrite); err != nil {
			return err
		}
	}
	return nil
}

// withoutPayloads returns a message with nothing but the course of the events' runs, and whether
// that is another one. With erased it does not say who called, either.
func withoutPayloads(data []byte, events map[uint64]string, erased bool) (short []byte, changed bool) {
	for _, l := range parseLines(data) {
		if traceID, meant := events[l.sequence]; meant {
			l = l.without(traceID, erased)
		}
		short = strconv.AppendUint(append(short, l.kind), l.sequence, 36)
		short = append(append(append(short, ' '), l.data...), '\n')
	}
	return short, !bytes.Equal(short, data)
}

// without returns a line without what was sent, if it is about that call.
func (l line) without(traceID string, erased bool) line {
	if run, ok := l.run(); ok && run.TraceID == traceID {
		hideRun(&run)
		l.data = value.AppendRecord(nil, &run)
	}
	var about struct{ TraceID string }
	var said map[string]json.RawMessage
	if !erased || json.Unmarshal(l.data, &about) != nil || about.TraceID != traceID ||
		json.Unmarshal(l.data, &said) != nil {
		return l
	}
	fields := len(said)
	for _, name := range []string{"deliveryId", "remoteAddr", "type"} {
		delete(said, name)
	}
	if short, err := value.Marshal(said); err == nil && len(said) < fields {
		l.data = short
	}
	return l
}

// hideRun removes what a run sent, got and said.
func hideRun(r *sluice.RunReport) {
	r.HidePayloads()
	r.Type = ""
	if r.Error != nil {
		short := *r.Error
		short.Detail, short.Snippet, short.Parameter, short.Errors = "", "", "", nil
		r.Error = &short
	}
}
