package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"sluice/step/postgrestest"
)

const (
	turns     = 100 // steps in each run, so that it is the step that is measured
	inFlight  = 16  // runs at the same time, and connections to the database
	targetKey = "orders"
)

// An effort is something that is done again and again, by many at the same time.
type effort struct {
	contender

	times    int // that do counts for
	do       func(context.Context) error
	parallel int // at the same time; 0 means inFlight
}

// measureTargets measures steps that reach others. Their targets do little, so that little hides what the
// steps cost: the database syncs nothing, and the cluster is in memory.
func measureTargets(ctx context.Context, b *bench) error {
	p, err := b.startPipelines(ctx, "targets", 0)
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, *pipelineServer) error{
		b.measureSQL, b.measureKafka, b.measureCredentials,
	} {
		if err := measure(ctx, p); err != nil {
			return err
		}
	}
	return p.noneFailed(ctx)
}

func (b *bench) measureSQL(ctx context.Context, p *pipelineServer) error {
	database, err := postgrestest.Start("")
	if database == nil {
		progressf("PostgreSQL is not installed: sql.exec is not measured")
		return err
	}
	defer database.Stop()
	config, err := pgxpool.ParseConfig(database.URL)
	if err != nil {
		return err
	}
	config.MaxConns = inFlight
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	for ctx.Err() == nil { // while it starts, it says so
		if _, err = pool.Exec(ctx, "create table orders (id text, n int)"); err == nil {
			break
		}
	}
	const insert = "insert into orders (id, n) values ($1, $2)"
	alone := &effort{contender: contender{name: "inserts by pgx"}, times: 1, do: func(ctx context.Context) error {
		_, err := pool.Exec(ctx, insert, "an id", 1)
		return err
	}}
	step, err := p.repeated(ctx, "inserts by sql.exec", "database", database.URL,
		fmt.Sprintf("sql.exec: {database: database, statement: %q, values: [an id, 1]}", insert))
	if err != nil {
		return err
	}
	return b.contest(ctx, "inserts: by sql.exec to by pgx with the same pool", alone, step, 0.5)
}

func (b *bench) measureKafka(ctx context.Context, p *pipelineServer) error {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, targetKey))
	if err != nil {
		return err
	}
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer client.Close()
	alone := &effort{contender: contender{name: "records by franz-go"}, times: 1, do: func(ctx context.Context) error {
		return client.ProduceSync(ctx, &kgo.Record{
			Topic: targetKey, Key: []byte("an id"), Value: []byte(`{"n":1}`),
		}).FirstErr()
	}}
	step, err := p.repeated(ctx, "records by kafka.send", "cluster", "kafka://"+cluster.ListenAddrs()[0],
		"kafka.send: {cluster: cluster, topic: orders, key: an id, value: {n: 1}}")
	if err != nil {
		return err
	}
	return b.contest(ctx, "records: by kafka.send to by franz-go with as many in flight", alone, step, 0.5)
}

// measureCredentials compares calls with credentials to calls without.
func (b *bench) measureCredentials(ctx context.Context, p *pipelineServer) error {
	var tokens atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/token" {
			tokens.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "token", "expires_in": 3600})
		}
	}))
	defer api.Close()
	call := func(auth string) string {
		return fmt.Sprintf("http.request: {url: %q, method: POST, body: {n: 1}, expect: 200%s}", api.URL, auth)
	}
	plain, err := p.repeated(ctx, "calls without credentials", "key", "id:secret", call(""))
	if err != nil {
		return err
	}
	for name, auth := range map[string]string{
		"a signature of AWS":   "{aws: {key: key, service: sqs, region: eu-central-1}}",
		"a token that is kept": fmt.Sprintf("{oauth2: {url: %q, client: key}}", api.URL+"/token"),
	} {
		with, err := p.repeated(ctx, "calls with "+name, "key", "id:secret", call(", auth: "+auth))
		if err != nil {
			return err
		}
		plain.rounds = nil
		if err := b.contest(ctx, "calls: with "+name+" to without", plain, with, 0.95); err != nil {
			return err
		}
	}
	if tokens.Load() != 1 {
		return fmt.Errorf("the token was fetched %d times", tokens.Load())
	}
	return nil
}

// repeated stores a pipeline that does a step many times, and returns the effort of running it.
func (p *pipelineServer) repeated(ctx context.Context, name, secret, value, step string) (*effort, error) {
	if err := p.command(ctx, "secret.put", url.Values{"name": {secret}, "value": {value}}, nil); err != nil {
		return nil, err
	}
	pipeline := strings.ReplaceAll(strings.ToLower(name), " ", "-")
	source := fmt.Sprintf("pipeline:\n- foreach: {in: '#{1..%d}', do: [%s]}\n- set: {value: done}\n", turns, step)
	if err := p.storePipeline(ctx, pipeline, source); err != nil {
		return nil, err
	}
	return &effort{contender: contender{name: name}, times: turns, do: func(ctx context.Context) error {
		var out string
		err := p.command(ctx, "pipeline.run?name="+pipeline, nil, &out)
		if err == nil && out != "done" {
			err = fmt.Errorf("a run came to %q", out)
		}
		return err
	}}, nil
}

// contest adds the rates of two efforts, measured in turn, and how the second compares to the first. The
// first round warms up and does not count.
func (b *bench) contest(ctx context.Context, figure string, first, second *effort, least float64) error {
	both := []*effort{first, second}
	for round := range b.rounds + 1 {
		for _, e := range both {
			done, err := e.burst(ctx, b.burst)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if round > 0 {
				e.rounds = append(e.rounds, done)
			}
			progressf("round %d of %d: %s/s, %s", round, b.rounds, grouped(done.rate()), e.name)
		}
		slices.Reverse(both)
	}
	for _, e := range []*effort{first, second} {
		b.table.add(e.name, grouped(e.median(measurement.rate))+"/s")
	}
	b.holdRatio(ratio{figure, &second.contender, &first.contender, atLeast(least, fmt.Sprintf("%.2f", least))})
	return nil
}

// burst makes an effort for a while.
func (e *effort) burst(ctx context.Context, d time.Duration) (measurement, error) {
	began := time.Now()
	var done atomic.Int64
	parallel := cmp.Or(e.parallel, inFlight)
	err := inParallel(ctx, parallel, parallel, func(ctx context.Context, _ int) error {
		for time.Since(began) < d {
			if err := e.do(ctx); err != nil {
				return err
			}
			done.Add(int64(e.times))
		}
		return nil
	})
	return measurement{Requests: int(done.Load()), Seconds: time.Since(began).Seconds()}, err
}
