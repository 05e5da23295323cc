package source

import (
	"strconv"
	"strings"
	"time"
)

// Defaults and bounds of deliveries.
const (
	maxRetries        = 100
	defaultBackoff    = time.Second
	leastBackoff      = 10 * time.Millisecond
	defaultMaxBackoff = time.Hour
	longestBackoff    = 24 * time.Hour
	defaultWithin     = 72 * time.Hour
	longestWithin     = 7 * 24 * time.Hour
	maxRate           = 100_000
)

// A Retry says how a failed run is retried.
type Retry struct {
	Times      int           // after the first attempt
	Backoff    time.Duration // before the first retry; it doubles
	MaxBackoff time.Duration
	Within     time.Duration // of the first attempt
	Stays      bool          // an event does not follow when its target is back
}

var defaultRetry = Retry{Backoff: defaultBackoff, MaxBackoff: defaultMaxBackoff, Within: defaultWithin}

func (c *checker) retry(p *Program, n *node) {
	c.options(n, "retry", map[string]func(*node){
		"times":      func(n *node) { p.Retry.Times = c.integer(n, "times", 0, maxRetries) },
		"backoff":    func(n *node) { p.Retry.Backoff = c.duration(n, "backoff", leastBackoff, longestBackoff) },
		"maxBackoff": func(n *node) { p.Retry.MaxBackoff = c.duration(n, "maxBackoff", leastBackoff, longestBackoff) },
		"within":     func(n *node) { p.Retry.Within = c.duration(n, "within", time.Second, longestWithin) },
		"recover":    func(n *node) { p.Retry.Stays = !c.boolean(n, "recover") },
	})
}

// A Pace bounds how often a pipeline starts a run.
type Pace struct {
	Text      string // as written in the source; "": no bound
	PerSecond float64
}

var paceUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

func (c *checker) rate(n *node) Pace {
	text, _ := n.string()
	count, unit, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(count)
	per := paceUnits[unit]
	if err != nil || per == 0 || number < 1 || number > maxRate {
		c.problemf(n, "rate must be an integer from 1 to %d for a second, minute or hour, such as 10/s, 100/m or 1000/h.", maxRate)
		return Pace{}
	}
	return Pace{text, float64(number) / per.Seconds()}
}
