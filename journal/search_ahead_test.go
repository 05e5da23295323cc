package journal

import (
	"fmt"
	"testing"

	"sluice"
)

// TestASearchLooksAtWhatItHasReadAhead: also when its time is over meanwhile, so that
// the next page need not read it again.
func TestASearchLooksAtWhatItHasReadAhead(t *testing.T) {
	const first, last = 4, 10
	w := &eventWalk{
		search: &search{Journal: new(Journal), q: sluice.TraceQuery{Text: "x", InPayload: true}, text: "x", allow: new(allowance)},
		first:  1, before: last + 1,
		marks:  new(marks),
		chunk:  chunk{subject: chunkSubject(last)},
		looked: lookedInto{first: first, has: make(map[uint64]bool)},
	}
	w.since, w.until = 0, 1
	for at := uint64(first); at <= last; at++ {
		w.marks[at] = mark{owner: markAbsent + 1}
		w.chunk.lines = append(w.chunk.lines, line{lineCall, at, fmt.Appendf(nil, `{"traceId":"abc:%d"}`, at)})
		w.looked.has[at] = false
	}
	if !w.allow.spent() {
		t.Fatal("it has time left")
	}
	if found, err := w.peek(t.Context()); found != nil || err != nil || w.before != first {
		t.Errorf("it found %v, %v and goes on before %d, want %d", found, err, w.before, first)
	}
}
