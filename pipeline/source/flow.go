package source

import (
	"time"

	"sluice"
)

// A Debounce lets the last of several events run in place of the others.
type Debounce struct {
	By     *Value        // events with the same value are meant
	Wait   time.Duration // for another one
	AtMost time.Duration // after the first one
}

// Bounds of a Debounce. Where atMost is not given, it is some times wait.
const (
	longestDebounce = 24 * time.Hour
	debounceTimes   = 10
)

func (c *checker) debounce(n *node, name string) *Debounce {
	d := new(Debounce)
	c.options(n, name, map[string]reader{
		"by":     into(&d.By, c.formula),
		"wait":   c.duration(&d.Wait, leastBackoff, longestDebounce),
		"atMost": c.duration(&d.AtMost, leastBackoff, longestWithin),
	})
	if n.kind != object {
		return d
	}
	if n.get("by") == nil || n.get("wait") == nil {
		c.problemf(n, "debounce needs by, a value of the event, and wait, such as 30s.")
	}
	if n.get("atMost") == nil {
		d.AtMost = min(debounceTimes*d.Wait, longestWithin)
	} else if d.AtMost < d.Wait {
		c.problemf(n.get("atMost"), "atMost must be at least as long as wait.")
	}
	return d
}

// A Pace bounds how often a pipeline starts a run.
type Pace struct {
	Text      string // as written in the source; "": no bound
	PerSecond float64
}

func (c *checker) rate(n *node, _ string) Pace {
	text, _ := n.string()
	interval, ok := sluice.ParseRate(text)
	if !ok {
		c.problemf(n, "rate must be %s.", sluice.RateRule)
		return Pace{}
	}
	return Pace{text, 1 / interval.Seconds()}
}
