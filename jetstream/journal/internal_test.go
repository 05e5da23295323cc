package journal

import (
	"bytes"
	"fmt"
	"testing"

	"sluice"
)

// FuzzPosition: a position is what a tail has given out, or it is refused.
func FuzzPosition(f *testing.F) {
	for _, text := range []string{"1.0-1.0", "12.3-4.56", "1.0-1.0x", " 1.0-1.0", "+1.0-1.0", "01.0-1.0", "1.-1-1.0", "18446744073709551616.0-1.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		both := followers{new(follower), new(follower)}
		if err := both.seek(text); err == nil && both.position() != text {
			t.Errorf("%q is taken for %q", text, both.position())
		}
	})
}

// FuzzLines: whatever is in a message, its lines are parts of it.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"", "c1z {}\n", "c1z {}\nr0 {\"a\":1}\n", "c {}\n", "x\n", "cé {}", "c-1 {}\n", "\n\n", "c1 "} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range parseLines(data) {
			if !bytes.Contains(data, l.data) || bytes.ContainsRune(l.data, '\n') {
				t.Errorf("%q is no line of %q", l.data, data)
			}
		}
	})
}

// Names have bits that tell them apart.
func TestNameBits(t *testing.T) {
	const names = 1000
	mistaken := 0
	for i := range names {
		one := bitsOf(fmt.Sprint("pipeline-", i))
		if !bitsOf("first", fmt.Sprint("pipeline-", i), "last").has(one) {
			t.Fatalf("a set lacks the name %d that it has", i)
		}
		if one == 0 {
			t.Fatalf("the name %d has no bits", i)
		}
		if one.has(bitsOf("another")) {
			mistaken++
		}
	}
	if mistaken > names/100 {
		t.Errorf("%d of %d names are taken for another", mistaken, names)
	}
}

// TestANodeThatOnlySearchesLetsGoOfTheIndex: what it has read is stored for all
// nodes, and does not stay in its memory.
func TestANodeThatOnlySearchesLetsGoOfTheIndex(t *testing.T) {
	const blocks = 200
	x := newIndex(nil, nil)
	for number := range uint64(blocks) {
		x.remember(number, entries{}, nil)
	}
	changed := x.changed(false)
	for _, number := range changed {
		x.joined(number, nil)
	}
	if stored := len(changed); stored != blocks-1 {
		t.Errorf("%d of %d blocks are stored, want all but the newest", stored, blocks)
	}
	if kept := len(x.blocks); kept > indexKept+1 {
		t.Errorf("%d blocks are kept, want at most %d", kept, indexKept+1)
	}
}

// TestASearchLooksAtWhatItHasReadAhead: also when its time is over meanwhile, so that
// the next page need not read it again.
func TestASearchLooksAtWhatItHasReadAhead(t *testing.T) {
	const first, last = 4, 10
	w := &eventWalk{
		search: &search{Journal: new(Journal), q: sluice.TraceQuery{Text: "x", InPayload: true}, text: "x", allow: new(allowance)},
		first:  1, before: last + 1,
		entries: new(entries),
		chunk:   chunk{subject: chunkSubject(last)},
		looked:  lookedInto{first: first, has: make(map[uint64]bool)},
	}
	w.since, w.until = 0, 1
	for at := uint64(first); at <= last; at++ {
		w.entries[at] = entry{owner: entryAbsent + 1}
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
