package limit

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"sluice"
)

// Shares bounds how much each key may have at the same time, so that one or two can't take
// everything.
type Shares[K comparable] struct {
	max int

	mu    sync.Mutex
	taken map[K]int
}

// NewShares returns shares of at most that many for each key.
func NewShares[K comparable](most int) *Shares[K] {
	return &Shares[K]{max: most, taken: make(map[K]int)}
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

// Network returns the key of a client address. One IPv6 client can have a whole /64, so the
// network counts.
func Network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Unmap().Is4() {
		return address
	}
	return networkOf(addr).String()
}

// Neighbours returns the key of the addresses around one that a single stranger may well
// have: a /24 of IPv4, a /64 of IPv6.
func Neighbours(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || !addr.Unmap().Is4() {
		return Network(address)
	}
	const bits = 24
	network, _ := addr.Unmap().Prefix(bits) // it can't fail: an address has more bits
	return network.String()
}

func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.WithZone("").Prefix(bits) // it can't fail: an address has that many bits
	return network
}

// Contains reports whether an address is in one of the networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// Slots bounds how many calls are handled at the same time. A call takes a slot when all of
// it has arrived: an unfinished body costs no work.
type Slots struct {
	max   int64
	taken atomic.Int64
}

// NewSlots returns that many slots.
func NewSlots(most int) *Slots { return &Slots{max: int64(most)} }

// Enter takes a slot, until Leave is called. It fails with Unavailable if there is none: a
// caller that is refused at once can retry, one that queues too long has given up.
func (s *Slots) Enter() error {
	if s.taken.Add(1) > s.max {
		s.Leave()
		return sluice.Passing(sluice.CodeOverloaded, "The server handles as many calls as it can.")
	}
	return nil
}

// Leave gives a slot back.
func (s *Slots) Leave() { s.taken.Add(-1) }
