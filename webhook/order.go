package webhook

import (
	"cmp"
	"slices"

	"sluice"
)

// An order is webhooks sorted by their event keys. It is kept in runs, so that
// neither a change nor a look into it takes long among a million: callers hold a
// lock meanwhile that calls may wait for.
type order struct {
	runs [][]*sluice.Webhook // none is empty
}

// longestRun is how many webhooks a run has at most.
const longestRun = 512

// compare orders webhooks by event key. Two with the same one never meet by the
// rules, but a damaged store may have them.
func compare(a, b *sluice.Webhook) int {
	return cmp.Or(cmp.Compare(a.EventKey, b.EventKey), cmp.Compare(a.UUID, b.UUID))
}

// place finds the run that a webhook belongs to, its place there, and whether it is
// there.
func (o *order) place(hook *sluice.Webhook) (run, at int, found bool) {
	run, _ = slices.BinarySearchFunc(o.runs, hook, func(r []*sluice.Webhook, hook *sluice.Webhook) int {
		return compare(r[len(r)-1], hook)
	})
	if run = min(run, len(o.runs)-1); run < 0 {
		return 0, 0, false
	}
	at, found = slices.BinarySearchFunc(o.runs[run], hook, compare)
	return run, at, found
}

// put adds a webhook, or replaces the one with its event key and token.
func (o *order) put(hook *sluice.Webhook) {
	run, at, found := o.place(hook)
	switch {
	case found:
		o.runs[run][at] = hook
		return
	case len(o.runs) == 0:
		o.runs = [][]*sluice.Webhook{{hook}}
		return
	}
	whole := slices.Insert(o.runs[run], at, hook)
	o.runs[run] = whole
	if len(whole) <= longestRun {
		return
	}
	half := len(whole) / 2
	if at == longestRun && run == len(o.runs)-1 {
		half = at // keys that come in their order fill one run after the other
	}
	o.runs = slices.Insert(o.runs, run+1, slices.Clone(whole[half:]))
	o.runs[run] = slices.Clip(whole[:half])
}

// remove takes a webhook out.
func (o *order) remove(hook *sluice.Webhook) {
	run, at, found := o.place(hook)
	if !found {
		return
	}
	o.runs[run] = slices.Delete(o.runs[run], at, at+1)
	if len(o.runs[run]) == 0 {
		o.runs = slices.Delete(o.runs, run, run+1)
	}
}

// from returns webhooks in their order, beginning with the first whose event key is
// not below the given one: some of them, none behind the last.
func (o *order) from(eventKey string) []*sluice.Webhook {
	run, at, _ := o.place(&sluice.Webhook{EventKey: eventKey})
	if len(o.runs) == 0 {
		return nil
	}
	return o.runs[run][at:]
}
