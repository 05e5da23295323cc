package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	engine "github.com/nats-io/nats-server/v2/server"
)

// engineServers is how many servers the external engine has, and how many copies
// of everything it keeps.
const engineServers = 3

// clusterKey protects nothing either. It has 32 bytes.
const clusterKey = "YmVuY2htYXJrIGJlbmNobWFyayBiZW5jaG1hcmsgb2s="

// A cluster is the servers of an external engine, and a node on them.
type cluster struct {
	node     *server
	servers  []*process
	monitors []string // addresses where the servers of the engine tell what they do
	calls    []load   // without a pipeline, and with one
}

// measureCluster measures what a call costs an external engine of three servers,
// with one node, and everything on this machine. Another program of this kind is
// measured in turn with this one.
func measureCluster(ctx context.Context, b *bench) error {
	now, err := b.startCluster(ctx, "now", "")
	if err != nil {
		return err
	}
	var then *cluster
	if b.against != "" {
		if then, err = b.startCluster(ctx, "then", b.against); err != nil {
			return err
		}
	}
	for i, kind := range []struct {
		name string
		most bar // messages of a call
	}{
		{"plain calls", atMost(2, "2")},
		{"calls with a pipeline", atMost(7, "7")},
	} {
		shipped := &contender{name: kind.name + ", external engine of three servers", load: now.calls[i]}
		contenders, ratios := []*contender{shipped}, []ratio(nil)
		if then != nil {
			other := &contender{name: shipped.name + ", other program", load: then.calls[i]}
			contenders = append(contenders, other)
			ratios = append(ratios, ratio{kind.name + ": this program to the other", shipped, other, atLeast(2, "2")})
		}
		if err := b.compare(ctx, contenders, ratios...); err != nil {
			return err
		}
		if err := b.countMessages(ctx, now, i, kind.name, kind.most); err != nil {
			return err
		}
		if then != nil {
			if err := b.countMessages(ctx, then, i, kind.name+", other program", bar{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// countMessages adds how many messages the servers of an engine get for a call,
// from clients and from each other.
func (b *bench) countMessages(ctx context.Context, c *cluster, kind int, name string, most bar) error {
	before, err := c.messages(ctx)
	if err != nil {
		return err
	}
	node, servers := c.processorTime()
	o, err := b.run(ctx, c.calls[kind], 3*b.burst)
	if err != nil {
		return err
	}
	after, err := c.messages(ctx)
	if err != nil {
		return err
	}
	each := float64(after-before) / float64(o.Requests)
	b.table.hold("messages into the engine's servers for each call: "+name, fmt.Sprintf("%.1f", each), each, most)
	nodeAfter, serversAfter := c.processorTime()
	micros := func(seconds float64) float64 { return seconds * 1e6 / float64(o.Requests) }
	b.table.add("processor time of a call: "+name,
		fmt.Sprintf("node %.0f µs, engine's servers %.0f µs", micros(nodeAfter-node), micros(serversAfter-servers)))
	return nil
}

// startCluster starts an engine and a node on it: a program, or this one. It gets
// two webhooks, of which a pipeline listens to the second.
func (b *bench) startCluster(ctx context.Context, name, program string) (*cluster, error) {
	c := new(cluster)
	urls, err := b.startEngine(ctx, name, c)
	if err != nil {
		return nil, err
	}
	settings := []string{
		"secret-key=" + clusterKey, "nats=" + urls, "nats-replicas=" + strconv.Itoa(engineServers), "result-wait=" +
			resultWait.String(),
	}
	if program == "" {
		c.node, err = b.startSluice(ctx, name, groupCommit, settings...)
	} else {
		c.node, err = b.startProgram(ctx, name, program, settings...)
	}
	if err != nil {
		return nil, err
	}
	tokens, err := c.node.createWebhooks(ctx, 2)
	if err != nil {
		return nil, c.node.failed(err)
	}
	if err := c.node.storePipeline(ctx, "listening", threeSteps(benchKey(1))); err != nil {
		return nil, err
	}
	for i, token := range tokens {
		calls, err := b.newLoad(c.node.client, fmt.Sprint(name, "-", i), []string{token})
		if err != nil {
			return nil, err
		}
		c.calls = append(c.calls, calls)
	}
	return c, nil
}

// startEngine starts the servers of an external engine, and gives their URLs.
func (b *bench) startEngine(ctx context.Context, name string, c *cluster) (urls string, err error) {
	var clients, routes []string
	for range engineServers {
		for _, addresses := range []*[]string{&clients, &routes, &c.monitors} {
			address, err := freeAddress()
			if err != nil {
				return "", err
			}
			*addresses = append(*addresses, address)
		}
	}
	for i := range engineServers {
		server := fmt.Sprint(name, "-nats-", i)
		args := append([]string{server, filepath.Join(b.part, server), clients[i], c.monitors[i], routes[i]}, routes...)
		p, err := b.start(ctx, server, "role-nats", args...)
		if err != nil {
			return "", err
		}
		c.servers = append(c.servers, p)
	}
	return "nats://" + strings.Join(clients, ",nats://"), nil
}

// natsRole is one server of an external engine. Arguments: its name, its data
// folder, its addresses for clients, for monitoring and for the other servers, and
// the addresses of all servers for each other.
func natsRole(args []string) error {
	go endWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var ports [3]int
	for i, address := range args[2:5] {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if ports[i], err = strconv.Atoi(port); err != nil {
			return err
		}
	}
	const host = "127.0.0.1"
	opts := &engine.Options{
		ServerName: args[0], StoreDir: args[1], JetStream: true, JetStreamMaxStore: 1 << 50, MaxPayload: 8 << 20,
		NoSigs: true, NoLog: true,
		Host: host, Port: ports[0], HTTPHost: host, HTTPPort: ports[1],
		Cluster: engine.ClusterOpts{Name: "bench", Host: host, Port: ports[2]},
	}
	for _, route := range args[5:] {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	s, err := engine.NewServer(opts)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(readyTimeout) {
		return errors.New("the server of the engine did not start")
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// processorTime tells the seconds that the node has taken, and the servers of the
// engine together; nothing where the system does not tell.
func (c *cluster) processorTime() (node, servers float64) {
	node, _ = cpuSeconds(c.node.process)
	for _, p := range c.servers {
		seconds, _ := cpuSeconds(p)
		servers += seconds
	}
	return node, servers
}

// messages tells how many messages the servers of the engine got so far.
func (c *cluster) messages(ctx context.Context) (sum int64, err error) {
	for _, address := range c.monitors {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/varz", nil)
		if err != nil {
			return 0, err
		}
		answer, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
		if err != nil {
			return 0, err
		}
		var told struct {
			InMsgs int64 `json:"in_msgs"`
		}
		err = json.NewDecoder(answer.Body).Decode(&told)
		_ = answer.Body.Close() // it is read
		if err != nil {
			return 0, err
		}
		sum += told.InMsgs
	}
	return sum, nil
}
