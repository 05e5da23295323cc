package limit

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitsAfterFailuresEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewFailures(5, time.Second, time.Minute)
		for range 5 {
			if wait := b.Wait("x"); wait != 0 {
				t.Fatalf("the first tries wait %s", wait)
			}
			b.Fail("x")
		}
		for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			if wait := b.Wait("x"); wait != want {
				t.Errorf("the wait is %s, want %s", wait, want)
			}
			time.Sleep(want)
			if wait := b.Wait("x"); wait != 0 {
				t.Errorf("after %s there are still %s to wait", want, wait)
			}
			b.Fail("x")
		}
		for range 100 {
			b.Fail("x")
		}
		if wait := b.Wait("x"); wait != time.Minute {
			t.Errorf("the longest wait is %s", wait)
		}
		time.Sleep(3 * time.Minute)
		b.Fail("x")
		if wait := b.Wait("x"); wait != 0 {
			t.Errorf("after a quiet time the first failure costs %s", wait)
		}
	})
}
