package stream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/stretch"
	"sluice/wait"
)

// A DoubtError is the error of a message that may be stored, but was not acknowledged.
type DoubtError struct {
	ID    string // of the batch
	Place uint64 // in the batch

	cause error
}

// Error implements error.
func (d *DoubtError) Error() string { return "not acknowledged: " + d.cause.Error() }

// Unwrap returns what kept the acknowledgement away.
func (d *DoubtError) Unwrap() error { return d.cause }

// abandoned stands for the doubt of a publication whose caller left before it was sent.
var abandoned = new(DoubtError)

var (
	errFull   = errors.New("too many calls are waiting for the engine")
	errUnsent = errors.New("the engine took nothing in time")
)

// withdraw stores withdrawals until ctx ends. When a server that hung goes on, it may read
// messages whose callers were refused long ago. A withdrawal has the id of such a batch: of
// the two, the engine stores only the one that comes first.
func (w *clusterWriter) withdraw(ctx context.Context) {
	for {
		var id string
		select {
		case <-ctx.Done():
			return
		case id = <-w.doubted:
		}
		for began := time.Now(); time.Since(began) < WithdrawalWindow && !w.withdrawOne(ctx, id); {
			if wait.For(ctx, attemptPause) != nil {
				return
			}
		}
	}
}

func (w *clusterWriter) withdrawOne(ctx context.Context, id string) (done bool) {
	if w.host.Ready() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(ackWithin))
	defer cancel()
	_, err := storeTogether(ctx, w.host.Conn, []*nats.Msg{w.identify(&nats.Msg{Subject: w.withdrawn}, id)})
	return err == nil
}
