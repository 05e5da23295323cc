package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// clusterMode breaks an external engine of three servers under three nodes.
var clusterMode = mode{
	name:    "cluster",
	summary: "kill, hang, cut off and restart servers of an external engine",
	run:     runCluster,
}

// A clusterFault is something that happens to a rig under load.
type clusterFault struct {
	name   string
	within time.Duration // the longest time that a node may refuse calls
	happen func(context.Context, *rig) error
	walled bool // it needs a network namespace

	proxied  bool   // callers reach the nodes through a proxy
	bare     bool   // nodes have no spool
	powered  bool   // the first node has a disk whose power can be cut
	seamless bool   // no call may be refused
	must     string // it is a negative control: calls must be refused, or lost
}

// What a negative control must do with calls.
const mustRefuse, mustLose = "refuse", "lose"

// away is how long a server stays away.
const away = 12 * time.Second

// election is how long the others may take to elect a leader, and nodes to notice.
const election = 10 * time.Second

var clusterFaults = []clusterFault{
	{name: "none", seamless: true, happen: func(ctx context.Context, _ *rig) error {
		sleep(ctx, 3*time.Second)
		return nil
	}},
	{name: "kill-leader", seamless: true, happen: func(ctx context.Context, r *rig) error {
		s, err := r.leader(ctx, "")
		if err != nil {
			return err
		}
		s.process.kill()
		sleep(ctx, away)
		return r.startServer(ctx, s)
	}},
	{name: "hang", seamless: true, happen: func(ctx context.Context, r *rig) error {
		leader, err := r.leader(ctx, "")
		if err != nil {
			return err
		}
		return r.hang(ctx, r.other(leader))
	}},
	{name: "hang-leader", seamless: true, happen: func(ctx context.Context, r *rig) error {
		leader, err := r.leader(ctx, "")
		if err != nil {
			return err
		}
		return r.hang(ctx, leader)
	}},
	{name: "partition", seamless: true, walled: true, happen: func(ctx context.Context, r *rig) error {
		if err := r.wall.close(); err != nil {
			return err
		}
		sleep(ctx, away)
		return r.wall.open()
	}},
	{name: "rolling", seamless: true, happen: func(ctx context.Context, r *rig) error {
		for _, s := range r.servers {
			if err := s.process.stop(); err != nil {
				return err
			}
			if err := r.startServer(ctx, s); err != nil {
				return err
			}
			if err := r.caughtUp(ctx); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "lost-replica", seamless: true, happen: func(ctx context.Context, r *rig) error {
		leader, err := r.leader(ctx, "")
		if err != nil {
			return err
		}
		return r.loseReplica(ctx, r.other(leader))
	}},
	{name: "lost-leader", seamless: true, happen: func(ctx context.Context, r *rig) error {
		leader, err := r.leader(ctx, "")
		if err != nil {
			return err
		}
		return r.loseReplica(ctx, leader)
	}},
	{name: "quorum", seamless: true, happen: loseQuorum(30 * time.Second)},
	{name: "quorum-bare", bare: true, must: mustRefuse, happen: loseQuorum(6 * time.Second)},
	{name: "kill-node", within: 8 * time.Second, happen: func(ctx context.Context, r *rig) error {
		r.nodes[0].process.kill()
		sleep(ctx, 2*time.Second)
		return r.startNode(ctx, r.nodes[0])
	}},
	{name: "restart-nodes", proxied: true, seamless: true, happen: restartNodes},
	{name: "restart-nodes-bare", must: mustRefuse, happen: restartNodes},
	{name: "hand-over-kill", within: handOverWithin, happen: interruptHandOver(func(_ *rig, n *rigNode) error {
		n.process.kill()
		return nil
	})},
	{name: "hand-over-power-cut", within: handOverWithin, powered: true,
		happen: interruptHandOver(func(r *rig, n *rigNode) error {
			return r.power.cut(n.process)
		})},
	{name: "hand-over-lost", must: mustLose, happen: loseSpool},
}

// loseReplica kills a server, and starts it with nothing, as on a new disk. Then it must
// get everything from the others: they are killed, one after the other.
func (r *rig) loseReplica(ctx context.Context, lost *natsServer) error {
	lost.process.kill()
	if err := os.RemoveAll(lost.data); err != nil {
		return err
	}
	sleep(ctx, time.Second)
	if err := errors.Join(r.startServer(ctx, lost), r.caughtUp(ctx)); err != nil {
		return err
	}
	for _, s := range r.servers {
		if s == lost {
			continue
		}
		s.process.kill()
		sleep(ctx, time.Second)
		if err := errors.Join(r.startServer(ctx, s), r.caughtUp(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// hang stops a server for a while, as if its machine had no time for it.
func (r *rig) hang(ctx context.Context, s *natsServer) error {
	s.process.signal(syscall.SIGSTOP)
	sleep(ctx, away)
	s.process.signal(syscall.SIGCONT)
	return nil
}

// caughtUp waits until all copies of the events are up to date.
func (r *rig) caughtUp(ctx context.Context) error {
	for deadline := time.Now().Add(settleWithin); time.Now().Before(deadline) && ctx.Err() == nil; sleep(ctx,
		200*time.Millisecond) {
		asking, cancel := context.WithTimeout(ctx, 2*time.Second) // a request may be lost with a leader
		stream, err := r.js.Stream(asking, eventStream)
		cancel()
		if err != nil {
			continue
		}
		cluster := stream.CachedInfo().Cluster
		if cluster.Leader != "" && len(cluster.Replicas) == r.replicas-1 &&
			!slices.ContainsFunc(cluster.Replicas, notCurrent) {
			return nil
		}
	}
	return errors.New("the copies of the events are not up to date in time")
}

func runCluster(ctx context.Context, s settings) error {
	type try struct {
		name string
		run  func() (clusterRow, error)
	}
	var tries []try
	for _, f := range clusterFaults {
		if f.must != "" && !s.negative {
			continue
		}
		tries = append(tries, try{f.name, func() (clusterRow, error) { return tryFault(ctx, s, f) }})
	}
	tries = append(tries, try{"trim", func() (clusterRow, error) { return tryTrim(ctx, s) }})
	chosen := strings.Split(s.faults, ",")
	tries = slices.DeleteFunc(tries, func(t try) bool { return s.faults != "" && !slices.Contains(chosen, t.name) })
	if s.negative {
		tries = append(tries, try{"negative control", func() (clusterRow, error) { return tryLoss(ctx, s) }})
	}
	var rows []clusterRow
	var failed error
	for _, t := range tries {
		fmt.Fprintf(os.Stderr, "%s: starting\n", t.name)
		row, err := t.run()
		if err != nil {
			row = clusterRow{verdict: "FAILED: " + err.Error(), err: fmt.Errorf("%s: %w", t.name, err)}
		}
		row.name = t.name
		fmt.Fprintf(os.Stderr, "%s: %s\n", t.name, row.verdict)
		for reason, n := range row.figures.reasons {
			fmt.Fprintf(os.Stderr, "%s: %d results are missing: %s\n", t.name, n, reason)
		}
		failed = errors.Join(failed, row.err)
		rows = append(rows, row)
	}
	return errors.Join(printClusterRows(rows), failed)
}

// tryFault lets a fault happen to a rig of its own.
func tryFault(ctx context.Context, s settings, f clusterFault) (clusterRow, error) {
	if f.walled && !canBuildWalls() {
		return clusterRow{verdict: "left out: only root can do that, on Linux with ip"}, nil
	}
	if f.powered && !hasPower() {
		return clusterRow{verdict: "left out: only root can do that, on Linux with mkfs.ext4"}, nil
	}
	r, err := startRig(ctx, s.dir, rigOptions{
		servers: 3, bytes: "1GiB", walled: f.walled, bare: f.bare, powered: f.powered,
	})
	if err != nil {
		return clusterRow{}, err
	}
	defer r.stop()
	load, stop, err := r.load(ctx, f.proxied)
	if err != nil {
		return clusterRow{}, err
	}
	defer stop()
	sleep(ctx, 2*time.Second)
	fmt.Fprintf(os.Stderr, "%s: it happens\n", f.name)
	err = f.happen(ctx, r)
	err = errors.Join(err, r.settle(ctx))
	sleep(ctx, 2*time.Second)
	stop()
	if err = errors.Join(err, r.settle(ctx)); err != nil {
		return clusterRow{}, err
	}
	load.awaitRuns(ctx)
	figures, err := load.figures(ctx)
	if err != nil {
		return clusterRow{}, err
	}
	row := clusterRow{name: f.name, figures: figures, within: f.within}
	row.judge(f)
	return row, nil
}

// load starts callers, and gives what stops them; it may be called twice.
func (r *rig) load(ctx context.Context, proxied bool) (*clusterLoad, func(), error) {
	counter := newCounter()
	load, err := newClusterLoad(ctx, r, counter)
	if err == nil && proxied {
		load.proxy, err = startProxy(ctx, r.nodes)
	}
	if err != nil {
		counter.Close()
		return nil, nil, err
	}
	loading, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		load.run(loading)
		if load.proxy != nil {
			load.proxy.close()
		}
		close(done)
	}()
	return load, func() {
		cancel()
		<-done
	}, nil
}

// A clusterRow is a line of the table.
type clusterRow struct {
	name    string
	figures clusterFigures
	within  time.Duration
	verdict string
	err     error
}

// longestWait is how long a call may take, whatever the engine does.
const longestWait = 4 * time.Second

// judge compares the figures with the bars.
func (r *clusterRow) judge(f clusterFault) {
	var wrong []string
	fails := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	g := r.figures
	fails(g.lost > 0, "acknowledged calls are lost")
	fails(g.missing > 0, "acknowledged calls were never run")
	fails(g.doubled > 0, "calls were stored twice")
	fails(g.unanswered > 0, "results were not found")
	fails(g.late > 0, "calls were stored after they were refused")
	fails(g.letters > 0, "there are dead letters")
	fails(g.longestRefusal > f.within, "calls were refused for too long")
	fails(g.longestCall > longestWait, "a call took too long")
	fails(g.blind > 2*time.Second, "a node said that it was ready while it refused calls")
	fails(f.seamless && g.refused > 0, "calls were refused")
	if f.must != "" {
		wrong = nil
		fails(f.must == mustRefuse && g.refused == 0, "no call was refused: the test can't detect it")
		fails(f.must == mustLose && g.lost == 0, "nothing was lost: the test can't detect loss")
	}
	r.verdict = "ok"
	if len(wrong) > 0 {
		r.verdict = "BAD: " + strings.Join(wrong, "; ")
		r.err = fmt.Errorf("%s: %s", r.name, strings.Join(wrong, "; "))
	}
}

// printClusterRows prints the table.
func printClusterRows(rows []clusterRow) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tacked\tlost\tstored twice\tno result\tnever run\tstored late\truns repeated\tdead "+
		"letters\trefused\tlongest refusal\tbar\tlongest call\tready but refusing\t")
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
	for _, r := range rows {
		f := r.figures
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t  %s\n", r.name, f.acked, f.lost,
			f.doubled, f.unanswered, f.missing, f.late, f.repeated, f.letters, f.refused,
			seconds(f.longestRefusal), seconds(r.within), seconds(f.longestCall), seconds(f.blind), r.verdict)
	}
	return w.Flush()
}
