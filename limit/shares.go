package limit

import (
	"net/netip"
	"sync"
)

// Shares bounds how much of something each key may have at the same time, so
// that one or two can't take it all.
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

// Leave returns one back.
func (s *Shares[K]) Leave(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key]--; s.taken[key] == 0 {
		delete(s.taken, key)
	}
}

// Network returns the key of a client address, as a text. One IPv6 client can
// have a whole network of 64 bits, so that is what counts.
func Network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Unmap().Is4() {
		return address
	}
	return networkOf(addr).String()
}

func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.WithZone("").Prefix(bits) // never fails: an address has that many bits
	return network
}

// Contains reports whether an address is in one of some networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}
