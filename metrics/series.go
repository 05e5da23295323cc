package metrics

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"sluice"
)

// A series has the sums of equal periods. The store has a fixed number of records, one for
// each period that is kept. Every node adds to them.
type series struct {
	store  sluice.Records[sluice.Minute]
	period time.Duration
	kept   int // periods

	mu      sync.Mutex
	pending []sluice.Minute // minutes that are not stored yet
}

// wait queues a minute for storing.
func (s *series) wait(minute sluice.Minute) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, minute)
	s.pending = s.pending[max(0, len(s.pending)-maxPending):]
}

// flush stores the queued minutes. Those that fail stay queued.
func (s *series) flush(ctx context.Context) error {
	s.mu.Lock()
	waiting := s.pending
	s.pending = nil
	s.mu.Unlock()
	for i, minute := range waiting {
		if err := s.add(ctx, minute); err != nil {
			s.mu.Lock()
			s.pending = append(slices.Clone(waiting[i:]), s.pending...)
			s.mu.Unlock()
			return err
		}
	}
	return nil
}

// add adds a minute to the record of its period, or overwrites the record of a period that
// is no longer kept.
func (s *series) add(ctx context.Context, minute sluice.Minute) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	minute.Time = minute.Time.Truncate(s.period)
	key := strconv.FormatInt(minute.Time.Unix()/int64(s.period/time.Second)%int64(s.kept), 10)
	_, err := s.store.Change(ctx, key, func(before *sluice.Minute, _ map[string]*sluice.Minute) (*sluice.Minute, error) {
		sum := minute
		if before != nil && before.Time.Equal(minute.Time) {
			sum = *before
			addTo(&sum, &minute)
		}
		return &sum, nil
	})
	return err
}

// last returns the last sums in order, with queued and current counts.
func (s *series) last(count int, current *sluice.Minute) []sluice.Minute {
	sums := make([]sluice.Minute, min(count, s.kept))
	first := time.Now().UTC().Truncate(s.period).Add(-time.Duration(len(sums)-1) * s.period)
	for i := range sums {
		sums[i].Time = first.Add(time.Duration(i) * s.period)
	}
	add := func(part *sluice.Minute) {
		if i := int(part.Time.Sub(first) / s.period); !part.Time.Before(first) && i < len(sums) {
			addTo(&sums[i], part)
		}
	}
	for _, stored := range s.store.All() {
		add(stored)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pending {
		add(&s.pending[i])
	}
	add(current)
	return sums
}

// addTo adds the counts of one sum to another. It copies lists and maps, which stored records
// may share.
func addTo(sum, other *sluice.Minute) {
	sum.Accepted += other.Accepted
	sum.Rejected += other.Rejected
	sum.Unavailable += other.Unavailable
	sum.Errors += other.Errors
	sum.Runs += other.Runs
	sum.RunErrors += other.RunErrors
	latencies := make([]int, max(len(sum.Latencies), len(other.Latencies)))
	copy(latencies, sum.Latencies)
	for i, n := range other.Latencies {
		latencies[i] += n
	}
	sum.Latencies = latencies
	if len(other.Webhooks) == 0 {
		return
	}
	webhooks := make(map[string]sluice.WebhookFigures, len(sum.Webhooks)+len(other.Webhooks))
	maps.Copy(webhooks, sum.Webhooks)
	for key, figures := range other.Webhooks {
		if _, known := webhooks[key]; !known && len(webhooks) >= maxWebhooks {
			key = ""
		}
		of := webhooks[key]
		addFigures(&of, figures)
		webhooks[key] = of
	}
	sum.Webhooks = webhooks
}

func addFigures(sum *sluice.WebhookFigures, other sluice.WebhookFigures) {
	sum.Accepted += other.Accepted
	sum.Rejected += other.Rejected
	sum.Errors += other.Errors
	if other.Last.After(sum.Last) {
		sum.Last = other.Last
	}
}

// trimmed returns counts without trailing zeros.
func trimmed(counts []int) []int {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}

// latencyBounds are the upper bounds of the counted latencies in milliseconds, each about 1.4
// times the one before. Longer latencies count with the last.
var latencyBounds = func() (bounds []float64) {
	const first, last = 0.25, 2 * 60_000
	for bound := first; bound < last; bound *= 2 {
		bounds = append(bounds, bound, bound*1.414)
	}
	return bounds
}()

// latencyBound returns the index of the bound for a duration.
func latencyBound(milliseconds float64) int {
	i, _ := slices.BinarySearch(latencyBounds, milliseconds)
	return min(i, len(latencyBounds)-1)
}

// quantile returns roughly how many milliseconds a share q of the calls took at most. It is 0
// if there were none.
func quantile(latencies []int, q float64) float64 {
	total := 0
	for _, n := range latencies {
		total += n
	}
	rank := q * float64(total)
	below := 0.0
	for i, n := range latencies {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		low := 0.0
		if i > 0 {
			low = latencyBounds[i-1]
		}
		share := (rank - below) / float64(n)
		return math.Round((low+share*(latencyBounds[i]-low))*1000) / 1000
	}
	return 0
}
