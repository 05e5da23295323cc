package journal

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"sluice"
	"sluice/jetstream/stream"
)

// A chunk is what the journal has about 64 successive events.
type chunk struct {
	subject string
	lines   []line // in the order of their events
}

// chunk reads the chunk of an event.
func (j *Journal) chunk(ctx context.Context, sequence uint64) (chunk, error) {
	subject := chunkSubject(sequence)
	lines, err := j.linesOf(ctx, subject)
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.sequence, b.sequence) })
	return chunk{subject, lines}, err
}

// linesOf returns all lines of a subject.
func (j *Journal) linesOf(ctx context.Context, subject string) (lines []line, err error) {
	for msg, err := range j.host.All(ctx, stream.Journal, stream.Range{Sequence: 1, Subject: subject, Count: 1000}) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, parseLines(msg.Data)...)
	}
	return lines, nil
}

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
		if call, _, ok := l.call(); ok {
			return int64(call.Size)
		}
	}
	return sluice.MaxPayloadLength
}

// maxDuplicates bounds the duplicates that a call is found with: the newest.
const maxDuplicates = 50

// duplicates returns the duplicates of a call that lines have.
func duplicates(lines []line, traceID string) (found []sluice.Duplicate) {
	for _, l := range lines {
		if r, ok := decode[repeated](l, lineRepeated); ok && r.TraceID == traceID {
			found = append(found, r.Duplicate)
		}
	}
	slices.SortStableFunc(found, func(a, b sluice.Duplicate) int { return a.Time.Compare(b.Time) })
	return found[max(0, len(found)-maxDuplicates):]
}
