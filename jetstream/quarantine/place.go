package quarantine

import (
	"cmp"
	"strconv"
	"strings"

	"sluice"
)

// A place is where a call stands among all others, on every node, whether the call is
// still there or not: people admit and delete calls while they turn pages.
type place struct {
	time int64 // in nanoseconds
	id   string
}

func placeOf(c *sluice.QuarantinedCall) place { return place{c.Time.UnixNano(), c.ID} }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.time, other.time), cmp.Compare(p.id, other.id))
}

// cursor returns the cursor behind a place, "" if that is none.
func (p place) cursor() string {
	if p == (place{}) {
		return ""
	}
	return strconv.FormatInt(p.time, 10) + "-" + p.id
}

// parseCursor returns the place that a cursor is behind.
func parseCursor(cursor string) (p place, err error) {
	if cursor == "" {
		return p, nil
	}
	at, id, _ := strings.Cut(cursor, "-")
	p.id = id
	if p.time, err = strconv.ParseInt(at, 10, 64); err != nil || !sluice.ValidTraceID(id) {
		return place{}, sluice.InvalidParameter("after", "The parameter after must be the value of next in the previous answer.")
	}
	return p, nil
}
