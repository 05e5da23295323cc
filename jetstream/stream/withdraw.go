package stream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/stretch"
	"sluice/wait"
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
