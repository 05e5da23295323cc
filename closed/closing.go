package closed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
)

type params struct {
	From  time.Time `json:"from" doc:"Only times that lasted until then or longer."`
	Limit int       `json:"limit" min:"1" max:"500" doc:"At most this many. Default 100."`
}

const defaultLimit = 100

func (l *Ledger) get(_ context.Context, p params) (sluice.List[sluice.Closing], error) {
	found := l.closings(p.From)
	return sluice.List[sluice.Closing]{Items: found[:min(len(found), cmp.Or(p.Limit, defaultLimit))]}, nil
}

// enter stores a closing and tells of it.
func (l *Ledger) enter(ctx context.Context, c sluice.Closing) error {
	c.Webhooks = l.webhooks(c)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := sluice.Put(ctx, l.Records, closingKey(c), &sluice.ClosedRecord{Closing: &c})
	l.Tell(ctx, describe(c))
	for i, old := range l.closings(time.Time{}) {
		if i >= maxKept && err == nil {
			err = sluice.Remove(ctx, l.Records, closingKey(old))
		}
	}
	return err
}

func closingKey(c sluice.Closing) string { return strconv.FormatInt(c.From.UnixMilli(), 10) }

// describe says what was missed, and by whom.
func describe(c sluice.Closing) string {
	var lost []string
	for _, w := range c.Webhooks {
		if w.Retries == "none" {
			lost = append(lost, w.EventKey)
		}
	}
	text := fmt.Sprintf("No calls were taken for %s, from %s to %s (%s).", c.To.Sub(c.From).Round(time.Second),
		c.From.Format("2 January, 15:04:05"), c.To.Format("15:04:05 UTC"), c.Cause)
	if len(lost) > 0 {
		text += " The senders of these webhooks don't try again: " + strings.Join(lost, ", ") +
			"; webhook.missed finds what they sent, where the sender can be asked."
	}
	return text
}

// closings returns the closings that ended at a time or later, newest first.
func (l *Ledger) closings(from time.Time) []sluice.Closing {
	found := []sluice.Closing{}
	for _, r := range l.Records.All() {
		if r.Closing != nil && !r.Closing.To.Before(from) {
			found = append(found, *r.Closing)
		}
	}
	slices.SortFunc(found, func(a, b sluice.Closing) int { return b.From.Compare(a.From) })
	return found
}
