package portal

import (
	"slices"
	"testing"
	"time"

	"sluice"
)

// TestTheNextCallIsTheNextOne: however many calls came after it, and however late.
func TestTheNextCallIsTheNextOne(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	var all []tracedCall // newest first
	for i := range 50_000 {
		// Many a second, a week later as many in a second, and a single one.
		all = append(all,
			sluice.CallView{Call: sluice.Call{Time: begin.Add(time.Duration(i) * 7 * time.Millisecond)}},
			sluice.CallView{Call: sluice.Call{Time: begin.Add(7*24*time.Hour + time.Duration(i)*20*time.Microsecond)}})
	}
	all = append(all, sluice.CallView{Call: sluice.Call{Time: begin.Add(300 * 24 * time.Hour)}})
	slices.SortFunc(all, func(a, b tracedCall) int { return b.Time.Compare(a.Time) })
	asked := 0
	find := func(from, to time.Time) (found []tracedCall, more bool, err error) {
		asked++
		first, _ := slices.BinarySearchFunc(all, to, func(c tracedCall, t time.Time) int { return t.Compare(c.Time) })
		for _, c := range all[first:] {
			if c.Time.Before(from) {
				break
			}
			if len(found) == 100 {
				return found, true, nil
			}
			found = append(found, c)
		}
		return found, false, nil
	}
	now := all[0].Time.Add(time.Hour)
	for i := len(all) - 1; i > 0; i = max(i-997, min(i-1, 1)) {
		asked = 0
		next, err := nextAfter(all[i].Time, now, find)
		if err != nil || next == nil || !next.Time.Equal(all[i-1].Time) {
			t.Fatalf("after %v comes %v, %v; want %v", all[i].Time, next, err, all[i-1].Time)
		}
		if asked > 40 {
			t.Errorf("%d questions lead from %v to %v", asked, all[i].Time, next.Time)
		}
	}
	if next, err := nextAfter(all[0].Time, now, find); next != nil || err != nil {
		t.Errorf("after the last one comes %v, %v", next, err)
	}
}
