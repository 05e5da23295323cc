package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

const (
	callersPerNode = 4
	callPause      = 25 * time.Millisecond
	callTimeout    = 15 * time.Second // as a sender with patience
)

// A clusterCall is one call as its caller saw it.
type clusterCall struct {
	id            uint64
	node          int
	began, ended  time.Time
	acked         bool
	cutOff        bool // it got no answer, so nobody knows what became of it
	counted       bool // a pipeline tells the counter of its run
	correlationID string
	status        sluice.Status // that it was answered with
}

// clusterLoad is callers of all nodes, and their ledger.
type clusterLoad struct {
	rig     *rig
	counter *counter
	proxy   *proxy          // before the nodes; nil: callers call them directly
	tokens  map[bool]string // of the webhooks, by whether runs are counted

	ids  atomic.Uint64
	mu   sync.Mutex
	made []clusterCall

	blind []time.Duration // by node: how long it said it was ready while all its calls were refused
}

// newClusterLoad makes the webhooks that are called.
func newClusterLoad(ctx context.Context, r *rig, c *counter) (*clusterLoad, error) {
	l := &clusterLoad{rig: r, counter: c, tokens: make(map[bool]string), blind: make([]time.Duration, len(r.nodes))}
	api := newClient(r.nodes[0].url, 1)
	defer api.close()
	if err := api.command(ctx, "iam.role.put", map[string]any{
		"role": sluice.AnonymousRole, "permissions": []string{"set", "wait", "http.request"},
	}, new(sluice.Role)); err != nil {
		return nil, err
	}
	for counted, key := range map[bool]string{false: "webhook.plain", true: "webhook.counted"} {
		var hook sluice.Webhook
		if err := api.command(ctx, "webhook.put", map[string]any{"eventKey": key}, &hook); err != nil {
			return nil, err
		}
		l.tokens[counted] = hook.UUID
	}
	// Calls are counted by their own ids: the ledger knows no others of calls that
	// were not answered.
	source := strings.ReplaceAll(kinds[2].source("webhook.counted", c.URL), "request.correlationId", "body.query.id[0]")
	return l, api.store(ctx, "counted", source)
}

// run calls all nodes until ctx ends.
func (l *clusterLoad) run(ctx context.Context) {
	var all sync.WaitGroup
	for i, n := range l.rig.nodes {
		at := n.url
		if l.proxy != nil {
			at = l.proxy.URL
		}
		for range callersPerNode {
			all.Go(func() { l.call(ctx, i, at) })
		}
		all.Go(func() { l.watchReadiness(ctx, i, n) })
	}
	all.Wait()
}

func (l *clusterLoad) call(ctx context.Context, node int, at string) {
	c := newClient(at, 1)
	c.http.Timeout = callTimeout
	defer c.close()
	var body []byte
	for ctx.Err() == nil {
		id := l.ids.Add(1)
		counted := id%3 == 0
		body = appendBody(body[:0], id)
		call := clusterCall{id: id, node: node, counted: counted, began: time.Now()}
		result, err := c.receive(context.WithoutCancel(ctx), l.tokens[counted], id, body)
		call.ended, call.acked = time.Now(), err == nil
		call.correlationID, call.status = result.CorrelationID, result.Status
		_, call.cutOff = errors.AsType[*url.Error](err)
		l.mu.Lock()
		l.made = append(l.made, call)
		l.mu.Unlock()
		sleep(ctx, callPause)
	}
}

// watchReadiness adds up how long a node says that it is ready while its calls are
// refused.
func (l *clusterLoad) watchReadiness(ctx context.Context, node int, n *rigNode) {
	const every = 250 * time.Millisecond
	for ctx.Err() == nil {
		sleep(ctx, every)
		since := time.Now().Add(-2 * time.Second)
		if n.isReady(ctx) && l.refusesSince(node, since) {
			l.mu.Lock()
			l.blind[node] += every
			l.mu.Unlock()
		}
	}
}

// refusesSince reports whether a node has refused calls, and taken none, since a time.
func (l *clusterLoad) refusesSince(node int, since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused := false
	for _, c := range slices.Backward(l.made) {
		if c.ended.Before(since) {
			break
		}
		if c.node == node {
			if c.acked {
				return false
			}
			refused = true
		}
	}
	return refused
}

// figures of one fault.
type clusterFigures struct {
	acked, lost, doubled, unanswered, late, repeated, missing, refused, letters int
	longestRefusal, longestCall, blind                                          time.Duration

	reasons map[string]int // why results were not there, with how many of them
}

// figures compares the ledger with what the engine has.
func (l *clusterLoad) figures(ctx context.Context) (f clusterFigures, err error) {
	stored, err := l.rig.stored(ctx)
	if err != nil {
		return f, err
	}
	if f.letters, err = l.rig.letters(ctx); err != nil {
		return f, err
	}
	for _, c := range l.made {
		times := stored[c.id]
		found := len(times) > 0
		f.doubled += max(0, len(times)-1)
		f.longestCall = max(f.longestCall, c.ended.Sub(c.began))
		if !c.acked {
			f.refused++
			if found && !c.cutOff && times[0].Sub(c.ended) > 500*time.Millisecond {
				f.late++
			}
			continue
		}
		f.acked++
		if !found {
			f.lost++
		} else if runs := l.counter.of(strconv.FormatUint(c.id, 10)); c.counted {
			f.repeated += max(0, runs-1)
			if runs == 0 {
				f.missing++
			}
		}
	}
	f.reasons = l.unanswered(ctx, stored)
	for _, n := range f.reasons {
		f.unanswered += n
	}
	f.longestRefusal = l.longestRefusal()
	f.blind = slices.Max(l.blind)
	return f, nil
}

// polled is how many results are asked for.
const polled = 300

// unanswered asks for results of stored calls, each at a node that was not called, and counts the
// missing ones with all that is known of them: the node that was asked and its answer, whether the
// call was answered before it was run, as from a spool, and whether all calls from a certain one
// on are affected.
func (l *clusterLoad) unanswered(ctx context.Context, stored map[uint64][]time.Time) map[string]int {
	clients := make([]*client, len(l.rig.nodes))
	for i, node := range l.rig.nodes {
		clients[i] = newClient(node.url, 1)
		defer clients[i].close()
	}
	every := max(1, len(l.made)/polled)
	reasons, since := make(map[string]int), ""
	for i, c := range l.made {
		if i%every > 0 || !c.acked || len(stored[c.id]) == 0 {
			continue
		}
		asked := (c.node + 1) % len(clients)
		reason := lacks(ctx, clients[asked], c.correlationID)
		if reason == "" {
			since = ""
			continue
		}
		if since == "" {
			since = fmt.Sprintf("from call %d of %d on", i, len(l.made))
		}
		reasons[fmt.Sprintf("%s: node%d says %s to calls of node%d that were answered %s", since, asked, reason, c.node,
			c.status)]++
	}
	return reasons
}

// lacks asks a node for the result of a call, and says why it is not there; "" if it
// is. A moment in which the node does not reach the engine is none of the ones that
// are looked for here.
func lacks(ctx context.Context, c *client, correlationID string) string {
	for deadline := time.Now().Add(5 * time.Second); ; sleep(ctx, 200*time.Millisecond) {
		result, err := c.result(ctx, correlationID)
		switch {
		case err == nil && result.Status == sluice.StatusOK:
			return ""
		case err == nil:
			return fmt.Sprintf("%q", result.Status)
		case time.Now().After(deadline), ctx.Err() != nil:
			if broken, ok := errors.AsType[*url.Error](err); ok {
				err = broken.Err // the rest of it is different for each call
			}
			return fmt.Sprintf("%q", err)
		}
	}
}

// longestRefusal returns the longest time in which a node took no call, though some
// were made.
func (l *clusterLoad) longestRefusal() (longest time.Duration) {
	for node := range l.rig.nodes {
		var refusing time.Time
		slices.SortFunc(l.made, func(a, b clusterCall) int { return a.began.Compare(b.began) })
		for _, c := range l.made {
			switch {
			case c.node != node:
			case c.acked:
				if !refusing.IsZero() {
					longest = max(longest, c.ended.Sub(refusing))
				}
				refusing = time.Time{}
			case refusing.IsZero():
				refusing = c.began
			}
		}
	}
	return longest
}

// awaitRuns waits until all counted calls have run.
func (l *clusterLoad) awaitRuns(ctx context.Context) {
	deadline := time.Now().Add(settleWithin)
	for _, c := range l.made {
		for c.acked && c.counted && l.counter.of(strconv.FormatUint(c.id,
			10)) == 0 && time.Now().Before(deadline) && ctx.Err() == nil {
			sleep(ctx, 20*time.Millisecond)
		}
	}
}

// stored returns when each call was stored, read from the engine itself.
func (r *rig) stored(ctx context.Context) (map[uint64][]time.Time, error) {
	stream, err := r.js.Stream(ctx, eventStream)
	if err != nil {
		return nil, err
	}
	stored := make(map[uint64][]time.Time)
	if stream.CachedInfo().State.Msgs == 0 {
		return stored, nil
	}
	consumer, err := stream.OrderedConsumer(ctx,
		jetstream.OrderedConsumerConfig{FilterSubjects: []string{sluice.EventPrefix + ">"}})
	if err != nil {
		return nil, err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	defer messages.Stop()
	for pending := uint64(1); pending > 0; {
		msg, err := messages.Next(jetstream.NextMaxWait(settleWithin))
		if err != nil {
			return nil, err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return nil, err
		}
		pending = meta.NumPending
		if id := callOf(msg.Data()); id > 0 {
			stored[id] = append(stored[id], meta.Timestamp)
		}
	}
	return stored, nil
}

// letters counts the dead letters.
func (r *rig) letters(ctx context.Context) (int, error) {
	stream, err := r.js.Stream(ctx, "DEADLETTERS")
	if err != nil {
		return 0, err
	}
	return int(stream.CachedInfo().State.Msgs), nil
}

// consumerOf returns the name of the consumer of the pipeline that listens to an
// event key.
func (r *rig) consumerOf(ctx context.Context, eventKey string) (string, error) {
	stream, err := r.js.Stream(ctx, eventStream)
	if err != nil {
		return "", err
	}
	consumers := stream.ListConsumers(ctx)
	name := ""
	for info := range consumers.Info() {
		if slices.Contains(info.Config.FilterSubjects, sluice.EventPrefix+eventKey) {
			name = info.Name
		}
	}
	if name == "" && consumers.Err() == nil {
		return "", fmt.Errorf("no pipeline listens to %s", eventKey)
	}
	return name, consumers.Err()
}
