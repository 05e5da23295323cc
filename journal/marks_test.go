package journal

import (
	"fmt"
	"testing"
)

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
