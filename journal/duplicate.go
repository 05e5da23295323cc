package journal

import (
	"encoding/json"
	"slices"

	"sluice"
)

// maxDuplicates bounds the duplicates that a call is shown with: the newest.
const maxDuplicates = 50

// repeated are the duplicates of one delivery that came since entries were
// written last: one line, however often a sender repeats itself.
type repeated struct {
	sluice.Duplicate

	TraceID       string `json:"traceId"` // of the first call
	correlationID string
}

// Repeated records a call whose delivery was accepted before: its ids are those
// of the first call. It never waits.
func (j *Journal) Repeated(c sluice.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := sluice.Duplicate{Time: c.Time, RemoteAddr: c.RemoteAddr, Quarantine: c.Quarantine, Count: 1}
	known := slices.IndexFunc(j.pending.repeated, func(r repeated) bool {
		return r.TraceID == c.TraceID && r.Quarantine == "" && c.Quarantine == ""
	})
	if known >= 0 {
		now.Count += j.pending.repeated[known].Count
		j.pending.repeated[known].Duplicate = now
		return
	}
	enter(j, &j.pending.repeated, repeated{now, c.TraceID, c.CorrelationID})
}

// duplicates returns the duplicates of a call that lines tell of.
func duplicates(lines []line, traceID string) (found []sluice.Duplicate) {
	for _, l := range lines {
		var r repeated
		if l.kind == lineRepeated && json.Unmarshal(l.data, &r) == nil && r.TraceID == traceID {
			found = append(found, r.Duplicate)
		}
	}
	return found[max(0, len(found)-maxDuplicates):]
}
