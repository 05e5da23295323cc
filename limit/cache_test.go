package limit

import (
	"testing"
	"time"
)

func TestValuesUntilTheirTimeIsOver(t *testing.T) {
	c := NewCache[string, int](10)
	now := time.Now()
	c.Put("a", 1, now.Add(time.Minute))
	for after, want := range map[time.Duration]bool{0: true, time.Minute - 1: true, time.Minute: false, time.Hour: false} {
		if value, ok := c.Get("a", now.Add(after)); ok != want || ok != (value == 1) {
			t.Errorf("after %s it gives %d, %t", after, value, ok)
		}
	}
	more := func(before int) (int, time.Time) { return before + 1, now.Add(time.Hour) }
	c.Change("a", now, more)
	if value, _ := c.Get("a", now); value != 2 {
		t.Errorf("1 was changed to %d", value)
	}
	c.Change("a", now.Add(time.Hour), more)
	if value, _ := c.Get("a", now); value != 1 {
		t.Errorf("what is over was changed to %d", value)
	}
	c.Drop("a")
	if _, ok := c.Get("a", now); ok {
		t.Error("what was dropped is still there")
	}
}

// TestAFullCache: it takes no more memory, and a flood of keys does not drive out
// those that count for longer.
func TestAFullCache(t *testing.T) {
	const size = 1000
	c := NewCache[int, bool](size)
	now := time.Now()
	for i := range size / 2 {
		c.Put(-i-1, true, now.Add(time.Hour))
	}
	for i := range 10 * size {
		c.Put(i, true, now.Add(time.Duration(i)))
		if len(c.held) > size {
			t.Fatalf("%d values are held", len(c.held))
		}
	}
	for i := range size / 2 {
		if _, ok := c.Get(-i-1, now); !ok {
			t.Fatal("a value that counts for an hour was driven out")
		}
	}
	if len(c.held) < size*8/10 {
		t.Errorf("%d values are held: more were dropped than need be", len(c.held))
	}
	full := len(c.held)
	c.Put(-1, false, now.Add(time.Hour))
	if len(c.held) != full {
		t.Error("a key that is held needs more room")
	}
}
