package main

import (
	"context"
	"fmt"
)

// measureOnce measures what it costs to do a step once, against one more stored event: both are a
// sync of the disk within the run.
func measureOnce(ctx context.Context, b *bench) error {
	const connections = 64
	s, tokens, err := b.startWithWebhooks(ctx, "once", 2, groupCommit, "result-wait="+resultWait.String())
	if err != nil {
		return err
	}
	if err := s.storePipeline(ctx, "inner", "pipeline: [set: {value: 1}]\n"); err != nil {
		return err
	}
	sending := &contender{name: fmt.Sprintf("a pipeline with one more stored event, %d connections", connections)}
	once := &contender{name: fmt.Sprintf("a pipeline with a step that is done once, %d connections", connections)}
	for i, c := range []*contender{sending, once} {
		step := []string{"event.send: {eventKey: bench.sent, payload: 1}", "pipeline.run: {name: inner, once: true}"}[i]
		source := fmt.Sprintf("pipeline:\n- event.listen: {eventKey: %s}\n- iam.run.as: {username: admin}\n- %s\n",
			benchKey(i), step)
		if err := s.storePipeline(ctx, fmt.Sprint("once-", i), source); err != nil {
			return err
		}
		calls, err := b.newLoad(s.client, fmt.Sprint("once-", i), tokens[i:i+1])
		if err != nil {
			return err
		}
		c.load = calls.over(connections)
	}
	return b.compare(ctx, []*contender{sending, once},
		ratio{"a step that is done once, to one more stored event", once, sending, atLeast(0.60, "0.60")})
}
