package journal

import (
	"encoding/json"
	"slices"

	"sluice"
)

// maxDuplicates bounds the duplicates that a call is found with: the newest.
const maxDuplicates = 50

// repeated are the duplicates of one delivery since entries were last written: one
// line, however often a sender repeats itself.
type repeated struct {
	sluice.Duplicate

	TraceID       string `json:"traceId"` // of the first call
	correlationID string
}

// enterDuplicate enters a call whose delivery was accepted before: its ids are those of
// the first call. The caller holds the lock.
func (j *Journal) enterDuplicate(c *sluice.Call) {
	key := c.TraceID + " " + c.Quarantine // a quarantined call has a line of its own
	r, known := j.pending.repeated[key]
	if !known && len(j.pending.repeated) >= maxPending {
		j.dropped.Add(1)
		return
	}
	if j.pending.repeated == nil {
		j.pending.repeated = make(map[string]repeated)
	}
	r.Time, r.RemoteAddr, r.Quarantine, r.Count = c.Time, c.RemoteAddr, c.Quarantine, r.Count+1
	r.TraceID, r.correlationID = c.TraceID, c.CorrelationID
	j.pending.repeated[key] = r
	j.rouse()
}

// duplicates returns the duplicates of a call that lines have.
func duplicates(lines []line, traceID string) (found []sluice.Duplicate) {
	for _, l := range lines {
		var r repeated
		if l.kind == lineRepeated && json.Unmarshal(l.data, &r) == nil && r.TraceID == traceID {
			found = append(found, r.Duplicate)
		}
	}
	slices.SortStableFunc(found, func(a, b sluice.Duplicate) int { return a.Time.Compare(b.Time) })
	return found[max(0, len(found)-maxDuplicates):]
}
