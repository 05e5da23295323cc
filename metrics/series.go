package metrics

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"sluice"
)

// A series is sums of equal periods. The store has one record for each period of
// the time that is kept, to which every node adds, so it never grows.
type series struct {
	store  sluice.Records[sluice.Minute]
	period time.Duration
	kept   int // periods

	mu      sync.Mutex
	pending []sluice.Minute // minutes that are not stored yet
}

// wait takes a minute that is to be stored.
func (s *series) wait(minute sluice.Minute) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, minute)
	s.pending = s.pending[max(0, len(s.pending)-maxPending):]
}

// flush stores the minutes that wait. Those that fail go on waiting.
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

// add adds to the record of a period, in place of the same one of a time that is
// not kept any more.
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

// last returns the last sums in order, with what waits and what is counted now.
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

// addTo adds the counts of one sum to another. What they share with what is
// stored does not change.
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

// trimmed returns counts without the zeros at their end.
func trimmed(counts []int) []int {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}
