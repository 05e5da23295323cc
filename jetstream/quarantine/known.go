package quarantine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// A webhook's share of the quarantine. Calls beyond it replace the webhook's own.
const (
	shareBytes = stream.QuarantineBytes / 8
	shareCount = 2000
)

// known is what is known of the calls in the quarantine, without their requests.
type known struct {
	mu     sync.Mutex
	calls  map[string]*keptCall // by id
	shares map[string]*share    // by the webhook's part of the subject
	bytes  int
}

type keptCall struct {
	sluice.QuarantinedCall

	subject string
	size    int
	place   string // see placeOf
}

// A share is the calls of one webhook, in the order of their times.
type share struct {
	calls []*keptCall
	bytes int
}

// shareOf returns the webhook's part of a call's subject.
func shareOf(subject string) string { return subject[:strings.LastIndexByte(subject, '.')] }

// find returns a call, nil if there is none.
func (k *known) find(id string) *keptCall {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.calls[id]
}

// add adds a call that is not known yet, and removes expired calls of the same webhook.
func (k *known) add(c *keptCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.calls[c.ID] != nil {
		return
	}
	k.calls[c.ID], c.place = c, placeOf(&c.QuarantinedCall)
	s := k.shares[shareOf(c.subject)]
	if s == nil {
		s = new(share)
		k.shares[shareOf(c.subject)] = s
	}
	at, _ := slices.BinarySearchFunc(s.calls, c, func(a, b *keptCall) int { return a.Time.Compare(b.Time) })
	s.calls = slices.Insert(s.calls, at, c)
	s.bytes += c.size
	k.bytes += c.size
	for oldest := time.Now().Add(-stream.QuarantineAge); len(s.calls) > 0 && s.calls[0].Time.Before(oldest); {
		k.drop(s.calls[0])
	}
}

// remove removes a call, if it is known.
func (k *known) remove(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.calls[id]; c != nil {
		k.drop(c)
	}
}

// drop removes a call. The caller holds the lock.
func (k *known) drop(c *keptCall) {
	delete(k.calls, c.ID)
	s := k.shares[shareOf(c.subject)]
	s.calls = slices.DeleteFunc(s.calls, func(other *keptCall) bool { return other == c })
	s.bytes -= c.size
	k.bytes -= c.size
	if len(s.calls) == 0 {
		delete(k.shares, shareOf(c.subject))
	}
}

// surplus returns the next call to remove, nil if there is space: the oldest call of
// the newest's webhook, if that has more than its share, or of the largest share.
func (k *known) surplus(newest string) *keptCall {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.shares[newest]; s != nil && len(s.calls) > 1 && (s.bytes > shareBytes || len(s.calls) > shareCount) {
		return s.calls[0]
	}
	if k.bytes <= stream.QuarantineBytes {
		return nil
	}
	var largest *share
	for _, s := range k.shares {
		if largest == nil || s.bytes > largest.bytes {
			largest = s
		}
	}
	return largest.calls[0]
}

// list returns the calls that match a query, and the place of the last one if there
// are more.
func (k *known) list(query sluice.QuarantineQuery) (calls []sluice.QuarantinedCall, next string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	order := strings.Compare
	if !query.Oldest {
		order = func(a, b string) int { return strings.Compare(b, a) }
	}
	var found []*keptCall
	oldest := time.Now().Add(-stream.QuarantineAge)
	for _, c := range k.calls {
		switch {
		case c.Time.Before(oldest),
			query.ID != "" && c.ID != query.ID,
			query.EventKey != "" && c.EventKey != query.EventKey,
			query.Code != "" && c.Code != query.Code,
			!query.Cover.Event(c.EventKey),
			c.Time.Before(query.From),
			!query.To.IsZero() && c.Time.After(query.To),
			query.After != "" && order(c.place, query.After) <= 0:
			continue
		}
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b *keptCall) int { return order(a.place, b.place) })
	if query.Limit > 0 && len(found) > query.Limit {
		found = found[:query.Limit]
		next = found[query.Limit-1].place
	}
	for _, c := range found {
		calls = append(calls, c.QuarantinedCall)
	}
	return calls, next
}

// placeOf returns where a call is in the order of all calls, on every node: by its time, in
// nanoseconds, and its id. It stays good when the call is gone: people admit and delete calls
// while they turn pages.
func placeOf(c *sluice.QuarantinedCall) string {
	return fmt.Sprintf("%019d-%s", c.Time.UnixNano(), c.ID)
}

// checkPlace refuses what is not the place of a call.
func checkPlace(place string) error {
	at, id, _ := strings.Cut(place, "-")
	if _, err := strconv.ParseInt(at, 10, 64); err != nil || !sluice.ValidTraceID(id) {
		return sluice.InvalidParameter("after", "The parameter after must be the value of next in the previous answer.")
	}
	return nil
}
