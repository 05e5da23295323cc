package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// askEvery is how often the proxy asks nodes whether they are ready: less than
// half of what nodes wait for proxies when they stop.
const askEvery = 250 * time.Millisecond

// A proxy passes calls on to the nodes that say they are ready, in turn. It never
// passes a call on twice.
type proxy struct {
	*httptest.Server

	nodes []*rigNode
	ways  []*httputil.ReverseProxy
	ready []atomic.Bool
	turn  atomic.Uint64

	asking sync.WaitGroup
	stop   context.CancelFunc
}

// startProxy stands between callers and the nodes of a rig until it is closed.
func startProxy(ctx context.Context, nodes []*rigNode) (*proxy, error) {
	p := &proxy{nodes: nodes, ready: make([]atomic.Bool, len(nodes))}
	for _, n := range nodes {
		target, err := url.Parse("http://" + n.listen)
		if err != nil {
			return nil, err
		}
		way := httputil.NewSingleHostReverseProxy(target)
		way.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
		p.ways = append(p.ways, way)
	}
	ctx, p.stop = context.WithCancel(ctx)
	for i, n := range nodes {
		p.ready[i].Store(n.isReady(ctx))
		p.asking.Go(func() {
			for ctx.Err() == nil {
				p.ready[i].Store(n.isReady(ctx))
				sleep(ctx, askEvery)
			}
		})
	}
	p.Server = httptest.NewServer(p)
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for range p.nodes {
		i := int(p.turn.Add(1)) % len(p.nodes)
		if p.ready[i].Load() {
			p.ways[i].ServeHTTP(w, r)
			return
		}
	}
	http.Error(w, "no node is ready", http.StatusBadGateway)
}

// close ends the proxy.
func (p *proxy) close() {
	p.stop()
	p.asking.Wait()
	p.Close()
}

// restartNodes stops and starts one node after the other. Each must be known to be
// ready before the next one goes.
func restartNodes(ctx context.Context, r *rig) error {
	for _, n := range r.nodes {
		if err := errors.Join(n.process.stop(), r.startNode(ctx, n), r.settle(ctx)); err != nil {
			return err
		}
		sleep(ctx, 2*askEvery)
	}
	return nil
}
