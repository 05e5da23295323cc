package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	engine "github.com/nats-io/nats-server/v2/server"

	"sluice/config"
	"sluice/serve"
)

const (
	natsPart = "nats"                                         // a server of an external engine
	nodePart = "node"                                         // a server that uses one
	secret   = "dG9ydHVyZSB0b3J0dXJlIHRvcnR1cmUgdG9ydHVyZSE=" // 32 bytes
)

// runNATS is the process of a server of the external engine: its name, the host
// and ports for clients and for the other servers, and the routes to all of them.
func runNATS(ctx context.Context, data string, options []string) error {
	endWithParent()
	name, host := options[0], options[1]
	var ports [2]int
	if _, err := fmt.Sscan(options[2]+" "+options[3], &ports[0], &ports[1]); err != nil {
		return err
	}
	opts := &engine.Options{
		ServerName: name, Host: host, Port: ports[0], NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: data, MaxPayload: 8 << 20,
	}
	if routes := options[4:]; len(routes) > 0 {
		opts.Cluster = engine.ClusterOpts{Name: "torture", Host: host, Port: ports[1]}
		for _, route := range routes {
			opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: route})
		}
	}
	s, err := engine.NewServer(opts)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(startWithin) {
		return errors.New("the server of the engine did not start")
	}
	fmt.Println(s.ClientURL())
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// runNode is the process of a server on an external engine: the file of its log, its
// address, the engine's, how many copies it keeps, how many bytes of events, and
// whether the node has a spool.
func runNode(ctx context.Context, data string, options []string) error {
	endWithParent()
	cfg, err := config.Load("", nil, map[string]string{
		"data":                        data,
		"listen":                      options[1],
		"nats":                        options[2],
		"nats-replicas":               options[3],
		"event-max-bytes":             options[4],
		"spool":                       options[5],
		"min-free-disk":               "1MiB",
		"secret-key":                  secret,
		"result-ttl":                  "24h",
		"drain-wait":                  "1s", // see askEvery
		"max-connections-per-address": "16384",
		"http-allow":                  "127.0.0.0/8",
	})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(options[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s, err := serve.Start(ctx, cfg, serve.Options{
		AdminPassword: adminPassword, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if _, _, err = s.CreateAdmin(waiting); err == nil {
		fmt.Println(s.URL())
		err = s.Wait(ctx)
	}
	return errors.Join(err, s.Stop()) //nolint:contextcheck // ctx has ended by now, and the stop has a bound of its own
}

// settleWithin is how long a cluster may take to be well again after a fault.
const settleWithin = 30 * time.Second
