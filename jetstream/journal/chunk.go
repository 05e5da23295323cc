package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"sluice"
	"sluice/jetstream/stream"
)

// about returns the lines about an event, each once.
func (c *chunk) about(sequence uint64) []line {
	first, _ := slices.BinarySearchFunc(c.lines, sequence,
		func(l line, s uint64) int { return cmp.Compare(l.sequence, s) })
	var found []line
	for _, l := range c.lines[first:] {
		if l.sequence != sequence {
			break
		}
		if !slices.ContainsFunc(found, func(f line) bool { return f.kind == l.kind && bytes.Equal(f.data, l.data) }) {
			found = append(found, l)
		}
	}
	return found
}

// size returns about how many bytes an event of the chunk has. One that the
// journal does not know may be of any size.
func (c *chunk) size(sequence uint64) int64 {
	for _, l := range c.about(sequence) {
		var call struct {
			Size int64 `json:"size"`
		}
		if (l.kind == lineCall || l.kind == lineSent) && json.Unmarshal(l.data, &call) == nil {
			return call.Size
		}
	}
	return sluice.MaxPayloadLength
}

// A chunk is what the journal has about 64 successive events.
type chunk struct {
	subject string
	lines   []line // in the order of their events
}

// loadChunk makes sure that the event's chunk is there.
func (w *eventWalk) loadChunk(ctx context.Context, sequence uint64) error {
	subject := chunkSubject(sequence)
	if w.chunk.subject == subject {
		return nil
	}
	w.allow.chunks--
	lines, err := w.linesOf(ctx, subject)
	if err != nil {
		return err
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.sequence, b.sequence) })
	w.chunk = chunk{subject, lines}
	return nil
}

// linesOf returns all lines of a subject.
func (s *search) linesOf(ctx context.Context, subject string) (lines []line, err error) {
	const most = 1000
	for from := uint64(1); ; {
		messages, err := s.host.Fetch(ctx, stream.Journal, stream.Range{Sequence: from, Subject: subject, Count: most})
		if err != nil {
			return nil, err
		}
		size := 0
		for _, msg := range messages {
			lines = append(lines, parseLines(msg.Data)...)
			from = msg.Sequence + 1
			size += len(msg.Data)
		}
		if len(messages) < most && size < stream.FetchBytes/2 {
			return lines, nil
		}
	}
}
