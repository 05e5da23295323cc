package limit

import (
	"errors"
	"fmt"
)

// Places bounds how many calls do something at the same time, each key's and all of them: one that
// takes long must not hold up the others.
type Places struct {
	each *Shares[string]
	all  *Slots
}

// NewPlaces returns places of which so many are for one key, and for all.
func NewPlaces(each, all int) *Places { return &Places{NewShares[string](each), NewSlots(all)} }

// ErrNoPlace says that there is no place left, ErrNoShare that there is none left for that key.
var (
	ErrNoPlace = errors.New("too many calls do the same at this time")
	ErrNoShare = fmt.Errorf("%w: of one key", ErrNoPlace)
)

// Enter takes a place until leave is called, or fails with ErrNoPlace or ErrNoShare.
func (p *Places) Enter(key string) (leave func(), err error) {
	if !p.each.Enter(key) {
		return nil, ErrNoShare
	}
	if p.all.Enter() != nil {
		p.each.Leave(key)
		return nil, ErrNoPlace
	}
	return func() {
		p.all.Leave()
		p.each.Leave(key)
	}, nil
}
