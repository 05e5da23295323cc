package journal

import "testing"

// TestANodeThatOnlySearchesLetsGoOfTheIndex: what it has read is stored for all
// nodes, and does not stay in its memory.
func TestANodeThatOnlySearchesLetsGoOfTheIndex(t *testing.T) {
	const blocks = 200
	x := newIndex(nil, nil)
	for number := range uint64(blocks) {
		x.remember(number, marks{}, nil)
	}
	if stored := len(x.unstored(false)); stored != blocks-1 {
		t.Errorf("%d of %d blocks are stored, want all but the newest", stored, blocks)
	}
	if kept := len(x.blocks); kept > indexKept+1 {
		t.Errorf("%d blocks are kept, want at most %d", kept, indexKept+1)
	}
}
