package limit

import "sync"

// Shares bounds how much each key may have at the same time, so that one or two can't take
// everything.
type Shares[K comparable] struct {
	max int

	mu    sync.Mutex
	taken map[K]int
}

// NewShares returns shares of at most that many for each key.
func NewShares[K comparable](most int) *Shares[K] {
	return &Shares[K]{max: most, taken: map[K]int{}}
}

// Enter takes one more for a key, unless it has its share.
func (s *Shares[K]) Enter(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] >= s.max {
		return false
	}
	s.taken[key]++
	return true
}

// Leave gives one back.
func (s *Shares[K]) Leave(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key]--; s.taken[key] == 0 {
		delete(s.taken, key)
	}
}
