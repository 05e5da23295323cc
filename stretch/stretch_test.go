package stretch_test

import (
	"testing"
	"time"

	"sluice/stretch"
)

func TestTimeOutsAreStretched(t *testing.T) {
	wants := func(want time.Duration) {
		t.Helper()
		if got := stretch.Of(time.Second); got != want {
			t.Errorf("a second becomes %s, want %s", got, want)
		}
	}
	wants(time.Second)
	undo := stretch.By(5)
	wants(5 * time.Second)
	stretch.By(1)()
	wants(5 * time.Second)
	undo()
	wants(time.Second)
}
