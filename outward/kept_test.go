package outward

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestKept: things are shared, closed when nobody uses them for a while, or when others need the room.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		made := 0
		k := Kept[string]{
			Open: func(key string) (string, error) {
				if key == "bad" {
					return "", errors.New("bad")
				}
				made++
				return fmt.Sprint(key, made), nil
			},
			Close: func(thing string) {
				mu.Lock()
				defer mu.Unlock()
				log = append(log, thing)
			},
			Idle: time.Minute, Most: 2,
		}
		take := func(key, want string) func(bool) {
			t.Helper()
			thing, leave, err := k.Take(key)
			if thing != want || (err != nil) != (want == "") {
				t.Fatalf("%s is %q, %v; want %q", key, thing, err, want)
			}
			return leave
		}
		closed := func(after time.Duration, want ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(log, want) {
				t.Fatalf("closed %v, want %v", log, want)
			}
		}
		first, second := take("a", "a1"), take("a", "a1")
		first(false)
		closed(2 * time.Minute)
		other := take("b", "b2")
		take("c", "")
		take("bad", "")
		second(false)
		take("c", "c3")(false)
		closed(time.Second, "a1")
		closed(2*time.Minute, "a1", "c3")
		again := take("b", "b2")
		other(true)
		fresh := take("b", "b4")
		closed(2*time.Minute, "a1", "c3")
		again(false)
		closed(0, "a1", "c3", "b2")
		fresh(false)
		closed(2*time.Minute, "a1", "c3", "b2", "b4")
	})
}
