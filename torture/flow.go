package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// flowMode calls a webhook for 100 keys, whose events run in order by key, do a step once, and leave work
// to workers who abandon some of it, while the server is killed, its clock is set back, or nodes
// of a cluster are killed. The negative control does without order, once and honest leases.
var flowMode = mode{
	name:    "flow",
	summary: "order by key, once, and work with leases, through kills and wrong clocks",
	run:     runFlow,
}

// A flowWorld is what the events of a flow run on.
type flowWorld interface {
	// start starts it on an empty folder.
	start(ctx context.Context, dir string) error
	// urls returns those that may be called at the moment.
	urls() []string
	// hit takes something down and brings it up again, or changes its world.
	hit(ctx context.Context) error
	stop()
}

// A flowTrial is one way to disturb a flow.
type flowTrial struct {
	name     string
	world    flowWorld
	hits     int
	pause    time.Duration // between the calls of a key
	negative bool
}

func runFlow(ctx context.Context, s settings) error {
	trials := []flowTrial{
		{name: "kill9", world: new(flowServer), hits: s.cycles},
		{name: "clock", world: &flowServer{bent: true}, hits: s.cycles},
		{name: "nodes", world: new(flowRig), hits: s.cycles, pause: 10 * flowPause},
	}
	if s.faults != "" {
		trials = slices.DeleteFunc(trials, func(t flowTrial) bool {
			return !slices.Contains(strings.Split(s.faults, ","), t.name)
		})
	}
	if s.control {
		trials = append([]flowTrial{{name: "control", world: new(flowServer)}}, trials...)
	}
	if s.negative {
		trials = append(trials, flowTrial{name: "negative control", world: new(flowServer), negative: true})
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tevents\thits\tout of order\tdone twice\ttaken twice\tlost\t")
	var failed error
	for _, t := range trials {
		b, err := t.run(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", t.name, b.count(), t.hits, b.faults[outOfOrder],
			b.faults[doneTwice], b.faults[takenTwice], b.faults[lost])
		for fault, name := range map[flowFault]string{
			outOfOrder: "out of order", doneTwice: "done twice", takenTwice: "taken twice",
		} {
			if t.negative && b.faults[fault] == 0 {
				failed = errors.Join(failed, fmt.Errorf("%s: the test can't find what is %s", t.name, name))
			}
		}
		if !t.negative && b.faults != ([lost + 1]int{}) {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", t.name, strings.Join(b.examples, "; ")))
		}
	}
	return errors.Join(w.Flush(), failed)
}

// run loads a world, hits it, and waits until all that was acknowledged is done.
func (t flowTrial) run(ctx context.Context, s settings) (*flowBook, error) {
	dir, err := os.MkdirTemp(s.dir, "torture-flow-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := newFlowBook(!t.negative)
	defer b.target.Close()
	if err := t.world.start(ctx, dir); err != nil {
		return nil, err
	}
	defer t.world.stop()
	token, err := b.setUp(ctx, t.world.urls()[0])
	if err != nil {
		return nil, err
	}
	var callers, workers sync.WaitGroup
	calling, stopCalls := context.WithCancel(ctx)
	working, stopWork := context.WithCancel(ctx)
	defer func() { stopCalls(); stopWork(); callers.Wait(); workers.Wait() }()
	for key := range flowKeys {
		callers.Go(func() { b.call(calling, ctx, t, key, token) })
	}
	for range flowWorkers {
		workers.Go(func() { b.work(working, t.world) })
	}
	for i := range t.hits + 1 {
		fmt.Fprintf(os.Stderr, "%s, %d of %d: load for %v\n", t.name, i, t.hits, s.longest)
		sleep(ctx, s.longest)
		if i == t.hits {
			break
		}
		if err := t.world.hit(ctx); err != nil {
			return nil, err
		}
	}
	stopCalls()
	callers.Wait()
	b.awaitAll(ctx)
	return b, nil
}

// A flowServer is one server, which is killed. If its clock is bent, that is set back by an hour before.
type flowServer struct {
	bent bool

	mu      sync.Mutex
	server  *server
	url     string
	data    string
	clock   string
	back    time.Duration
	options []string
}

func (w *flowServer) start(ctx context.Context, dir string) error {
	w.data = filepath.Join(dir, "data")
	if w.bent {
		w.clock = filepath.Join(dir, "clock")
		w.options = []string{clockOption + "=" + w.clock}
	}
	return w.launch(ctx)
}

func (w *flowServer) launch(ctx context.Context) error {
	s, err := launch(w.data, w.options...)
	if err != nil {
		return err
	}
	url, err := s.ready(ctx)
	if err != nil {
		s.kill()
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server, w.url = s, url
	if w.bent {
		err = turnClock(w.clock, w.back)
	}
	return err
}

func (w *flowServer) urls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []string{w.url}
}

func (w *flowServer) hit(ctx context.Context) error {
	if w.bent {
		w.back -= time.Hour
		if err := turnClock(w.clock, w.back); err != nil {
			return err
		}
		sleep(ctx, 2*time.Second)
	}
	w.server.kill()
	return w.launch(ctx)
}

func (w *flowServer) stop() {
	if w.server != nil {
		w.server.kill()
	}
}

// A flowRig is three nodes on a server of the external engine; nodes are killed in turn.
type flowRig struct {
	*rig

	next int
}

func (w *flowRig) start(ctx context.Context, dir string) (err error) {
	w.rig, err = startRig(ctx, dir, rigOptions{servers: 1, bytes: "1GiB", bare: true})
	return err
}

func (w *flowRig) urls() (urls []string) {
	for _, n := range w.nodes {
		urls = append(urls, "http://"+n.listen)
	}
	return urls
}

func (w *flowRig) hit(ctx context.Context) error {
	n := w.nodes[w.next%len(w.nodes)]
	w.next++
	n.process.kill()
	sleep(ctx, 500*time.Millisecond)
	return w.startNode(ctx, n)
}

func (w *flowRig) stop() {
	if w.rig != nil {
		w.rig.stop()
	}
}
