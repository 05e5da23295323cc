package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A rig is servers of an external engine and nodes on them, each a process.
type rig struct {
	dir      string
	replicas int
	bytes    string // of events that are kept
	spool    string // whether nodes have one
	wall     *wall  // around the last server; nil: there is none
	power    *power // of the first node's disk; nil: it has none of its own

	servers []*natsServer
	nodes   []*rigNode
	nc      *nats.Conn
	js      jetstream.JetStream
}

// A natsServer is one server of the engine.
type natsServer struct {
	name, host, data string
	ports            [2]int
	process          *server
}

// A rigNode is one node.
type rigNode struct {
	name, listen, url, data string
	process                 *server
}

// rigOptions say what a rig is like.
type rigOptions struct {
	servers  int
	bytes    string // of events that are kept
	walled   bool   // the last server can be cut off
	bare     bool   // nodes have no spool
	nodeless bool   // somebody else starts the nodes
	powered  bool   // the first node's disk can lose its power
}

// startRig starts servers, and three nodes on them.
func startRig(ctx context.Context, dir string, o rigOptions) (_ *rig, err error) {
	r := &rig{replicas: o.servers, bytes: o.bytes, spool: strconv.FormatBool(!o.bare)}
	defer func() {
		if err != nil {
			r.stop()
		}
	}()
	if r.dir, err = os.MkdirTemp(dir, "torture-cluster-"); err != nil {
		return nil, err
	}
	if o.powered {
		if r.power, err = newPower(dir); err != nil {
			return nil, err
		}
	}
	host := "127.0.0.1"
	if o.walled {
		if r.wall, err = buildWall(); err != nil {
			return nil, err
		}
		host = r.wall.near
	}
	for i := range o.servers {
		s := &natsServer{name: fmt.Sprint("n", i), host: host, data: filepath.Join(r.dir, fmt.Sprint("n", i))}
		if r.wall != nil && i == o.servers-1 {
			s.host = r.wall.far
		}
		for j := range s.ports {
			if s.ports[j], err = freePort(); err != nil {
				return nil, err
			}
		}
		r.servers = append(r.servers, s)
	}
	for _, s := range r.servers {
		if err = r.startServer(ctx, s); err != nil {
			return nil, err
		}
	}
	if r.nc, err = nats.Connect(r.urls(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond),
		nats.PingInterval(time.Second), nats.Timeout(time.Second)); err != nil {
		return nil, err
	}
	if r.js, err = jetstream.New(r.nc, jetstream.WithDefaultTimeout(2*time.Second)); err != nil {
		return nil, err
	}
	if o.nodeless {
		return r, nil
	}
	return r, r.startNodes(ctx)
}

// startNodes starts all nodes at the same moment.
func (r *rig) startNodes(ctx context.Context) error {
	var all sync.WaitGroup
	failed := make([]error, 3)
	for i := range failed {
		port, err := freePort()
		if err != nil {
			return err
		}
		n := &rigNode{name: fmt.Sprint("node", i), listen: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
		n.data = filepath.Join(r.dir, n.name)
		if i == 0 && r.power != nil {
			n.data = r.power.data
		}
		r.nodes = append(r.nodes, n)
		all.Go(func() { failed[i] = r.startNode(ctx, n) })
	}
	all.Wait()
	return errors.Join(failed...)
}

func (r *rig) urls() string {
	var urls []string
	for _, s := range r.servers {
		urls = append(urls, "nats://"+net.JoinHostPort(s.host, strconv.Itoa(s.ports[0])))
	}
	return strings.Join(urls, ",")
}

// startServer starts a server of the engine, again if it was stopped.
func (r *rig) startServer(ctx context.Context, s *natsServer) error {
	args := []string{natsPart, s.data, s.name, s.host, strconv.Itoa(s.ports[0]), strconv.Itoa(s.ports[1])}
	if len(r.servers) > 1 {
		for _, other := range r.servers {
			args = append(args, net.JoinHostPort(other.host, strconv.Itoa(other.ports[1])))
		}
	}
	cmd, err := partCommand(args...)
	if err != nil {
		return err
	}
	if r.wall != nil && s.host == r.wall.far {
		cmd = command("ip", append([]string{"netns", "exec", r.wall.name}, cmd.Args...)...)
	}
	if s.process, err = launchCommand(cmd); err != nil {
		return err
	}
	_, err = s.process.ready(ctx)
	return err
}

// startNode starts a node, again if it was stopped.
func (r *rig) startNode(ctx context.Context, n *rigNode) error {
	cmd, err := partCommand(nodePart, n.data, filepath.Join(r.dir, n.name+".log"), n.listen, r.urls(),
		strconv.Itoa(r.replicas), r.bytes, r.spool)
	if err != nil {
		return err
	}
	if n.process, err = launchCommand(cmd); err != nil {
		return err
	}
	n.url, err = n.process.ready(ctx)
	return err
}

// stop ends everything and removes it.
func (r *rig) stop() {
	for _, n := range r.nodes {
		if n.process != nil {
			n.process.kill()
		}
	}
	if r.nc != nil {
		r.nc.Close()
	}
	for _, s := range r.servers {
		if s.process != nil {
			s.process.signal(syscall.SIGCONT)
			s.process.kill()
		}
	}
	if r.wall != nil {
		r.wall.remove()
	}
	if r.power != nil {
		_ = r.power.clear()
	}
	if os.Getenv("TORTURE_KEEP") == "" {
		_ = os.RemoveAll(r.dir)
	}
}

// leader returns the server that leads the events, or a consumer of them.
func (r *rig) leader(ctx context.Context, consumer string) (*natsServer, error) {
	stream, err := r.js.Stream(ctx, eventStream)
	if err != nil {
		return nil, err
	}
	name := ""
	if info := stream.CachedInfo(); info.Cluster != nil {
		name = info.Cluster.Leader
	}
	if consumer != "" {
		c, err := stream.Consumer(ctx, consumer)
		if err != nil {
			return nil, err
		}
		name = c.CachedInfo().Cluster.Leader
	}
	for _, s := range r.servers {
		if s.name == name || name == "" {
			return s, nil
		}
	}
	return nil, fmt.Errorf("the leader %q is no server of ours", name)
}

// other returns a server that is not that one.
func (r *rig) other(than *natsServer) *natsServer {
	for _, s := range r.servers {
		if s != than && (r.wall == nil || s.host != r.wall.far) {
			return s
		}
	}
	return nil
}

// settle waits until all nodes are ready and their spools are empty.
func (r *rig) settle(ctx context.Context) error {
	for _, n := range r.nodes {
		deadline := time.Now().Add(settleWithin)
		for !n.isSettled(ctx) {
			if time.Now().After(deadline) {
				return fmt.Errorf("%s is not ready %v after the fault", n.name, settleWithin)
			}
			sleep(ctx, 100*time.Millisecond)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

var impatient = &http.Client{Timeout: 2 * time.Second}

// isReady asks a node whether it is ready.
func (n *rigNode) isReady(ctx context.Context) bool {
	ready, _ := n.readiness(ctx)
	return ready
}

// isSettled asks a node whether it is ready, and the engine takes all its calls.
func (n *rigNode) isSettled(ctx context.Context) bool {
	ready, detail := n.readiness(ctx)
	return ready && !bytes.Contains(detail, []byte("spool"))
}

func (n *rigNode) readiness(ctx context.Context) (ready bool, detail []byte) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.listen+"/readyz", nil)
	if err != nil {
		return false, nil
	}
	answer, err := impatient.Do(r)
	if err != nil {
		return false, nil
	}
	defer answer.Body.Close()
	detail, err = io.ReadAll(answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK, detail
}

// freePort returns a port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
