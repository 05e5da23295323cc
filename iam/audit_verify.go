package iam

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sluice"
)

// An auditCheck tells whether the audit log is whole.
type auditCheck struct {
	Valid     bool         `json:"valid" doc:"No chain breaks."`
	Entries   int          `json:"entries" doc:"How many were checked."`
	Unchained int          `json:"unchained,omitempty" doc:"Entries from before entries had hashes."`
	Last      string       `json:"last,omitempty" doc:"Hash of the newest entry. Keep it elsewhere: a log that was cut or written anew does not have it any more."`
	Breaks    []chainBreak `json:"breaks" doc:"Where chains break."`
}

// A chainBreak is where a chain of entries breaks.
type chainBreak struct {
	Time    time.Time `json:"time" doc:"Of the entry behind the break."`
	Chain   string    `json:"chain,omitempty" doc:"Name of the chain."`
	Number  int       `json:"number,omitempty" doc:"Place in the chain."`
	Message string    `json:"message" doc:"What is wrong there."`
}

func (d *Directory) verifyAudit(ctx context.Context, _ struct{}) (auditCheck, error) {
	c := chains{byID: make(map[string][]link), hashes: make(map[string]bool), oldest: make(map[byte]int)}
	for q := (sluice.AuditQuery{Limit: 1000}); ; {
		entries, next, err := d.Audit.Entries(ctx, q)
		if err != nil {
			return auditCheck{}, err
		}
		for i := range entries {
			c.add(&entries[i])
		}
		if q.Before = next; next == "" {
			break
		}
	}
	return c.check(), nil
}

// A link is what a chain knows of an entry.
type link struct {
	sluice.AuditEntry

	place int // in the log, newest first
}

// chains are those of the audit log. The first letter of a chain's id says which entries it
// has: the log keeps so many of each, and drops the oldest.
type chains struct {
	auditCheck

	byID   map[string][]link
	hashes map[string]bool
	oldest map[byte]int // place of the oldest entry of each kind of chain
	plain  []link       // entries without a hash
}

func (c *chains) add(e *sluice.AuditEntry) {
	l := link{
		sluice.AuditEntry{
			Time: e.Time, Chain: e.Chain, Number: e.Number, Previous: e.Previous, Hash: e.Hash,
		}, c.Entries,
	}
	c.Entries++
	if e.Hash == "" || e.Chain == "" {
		c.plain = append(c.plain, l)
		return
	}
	if e.Hash != e.Sum() {
		c.broken(l, "The entry was changed: its hash is that of another one.")
	}
	c.Last = cmp.Or(c.Last, e.Hash)
	c.hashes[e.Hash] = true
	c.byID[e.Chain] = append(c.byID[e.Chain], l)
	c.oldest[e.Chain[0]] = l.place
}

func (c *chains) broken(l link, message string) {
	c.Breaks = append(c.Breaks, chainBreak{l.Time, l.Chain, l.Number, message})
}

// check finds the breaks.
func (c *chains) check() auditCheck {
	for _, chain := range c.byID {
		slices.SortStableFunc(chain, func(a, b link) int { return cmp.Compare(a.Number, b.Number) })
		first, isOldest := chain[0], slices.ContainsFunc(chain,
			func(l link) bool { return l.place == c.oldest[l.Chain[0]] })
		switch {
		case isOldest: // the log has dropped what was before
		case first.Number > 1:
			c.broken(first, fmt.Sprintf("Before it %d entries of its chain are missing.", first.Number-1))
		case first.Previous != "" && !c.hashes[first.Previous]:
			c.broken(first, "The entry that its chain goes on from is missing, and perhaps others before it.")
		}
		for i, l := range chain[1:] {
			switch before := chain[i]; {
			case l.Number == before.Number:
				c.broken(l, "There are two entries of that number in its chain.")
			case l.Number > before.Number+1:
				c.broken(l, fmt.Sprintf("Before it %d entries of its chain are missing.", l.Number-before.Number-1))
			case l.Previous != before.Hash:
				c.broken(l, "It does not follow from the entry before it, one of which was replaced.")
			}
		}
	}
	end := -1 // of the entries that have a hash
	for _, place := range c.oldest {
		end = max(end, place)
	}
	for _, l := range c.plain {
		if c.Unchained++; l.place < end {
			c.broken(l, "The entry has no hash, and later ones have: it was put in.")
		}
	}
	slices.SortFunc(c.Breaks, func(a, b chainBreak) int { return b.Time.Compare(a.Time) })
	c.Breaks = append([]chainBreak{}, c.Breaks...)
	c.Valid = len(c.Breaks) == 0
	return c.auditCheck
}
