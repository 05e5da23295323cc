package serve

import (
	"cmp"
	"time"
)

// Timeouts are times that no setting changes.
type Timeouts struct {
	Drain    time.Duration // how long a stop waits for calls in flight
	PollHold time.Duration // how long a poll waits for its result
	Alert    time.Duration // how long a condition holds before its alert is raised
	Ack      time.Duration // how long an event may go without a sign of life before it is delivered again

	Header   time.Duration // how long a client may take to send its headers
	BodyIdle time.Duration // the longest pause while a body arrives
	Write    time.Duration // how long a client may take to read the next 64 KiB of an answer
	Idle     time.Duration // how long an idle connection stays open
}

// orUsual returns the times with the usual ones in place of zeros. Some packages have
// usual ones of their own.
func (t Timeouts) orUsual() Timeouts {
	t.Header = cmp.Or(t.Header, 10*time.Second)
	t.BodyIdle = cmp.Or(t.BodyIdle, 10*time.Second)
	t.Write = cmp.Or(t.Write, 30*time.Second)
	t.Idle = cmp.Or(t.Idle, 2*time.Minute)
	return t
}

// leastRate is how many bytes a second a body must reach.
const leastRate = 1 << 10
