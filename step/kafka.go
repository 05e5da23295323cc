package step

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"sluice"
	"sluice/outward"
)

const maxKafkaBytes = 64 << 20 // that wait to be sent to one cluster

var kafkaTopic = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

type kafkaParams struct {
	Cluster string         `json:"cluster" required:"true" literal:"*" doc:"Name of the secret with the URL of a cluster: kafka://user:password@host:9092,host:9092?tls=true&mechanism=SCRAM-SHA-512."`
	Topic   string         `json:"topic" required:"true" doc:"Topic to send to."`
	Key     any            `json:"key" doc:"Key of the record: text as it is, other values as JSON. Default none."`
	Value   any            `json:"value" body:"default" doc:"What to send: text as it is, other values as JSON."`
	Headers map[string]any `json:"headers" doc:"Headers of the record."`
	Timeout time.Duration  `json:"timeout" min:"1ms" max:"5m" doc:"How long it may take. Default 30s."`
}

// A kafkaResult is the output of kafka.send.
type kafkaResult struct {
	Partition int32 `json:"partition" doc:"The partition that took it."`
	Offset    int64 `json:"offset" doc:"Its place there."`
}

func (c *client) sendRecord(ctx context.Context, p kafkaParams) (any, error) {
	record, err := p.record()
	if err != nil {
		return nil, err
	}
	sent := map[string]any{"topic": p.Topic, "key": p.Key, "value": p.Value, "headers": p.Headers}
	return reach(ctx, c, c.clusters, hop{"KAFKA", p.Cluster, p.Timeout, sent, true},
		func(ctx context.Context, l line[*cluster]) (any, error) {
			err, at := l.to.send(ctx, record), l.bare
			refusal, ok := errors.AsType[*kerr.Error](err)
			switch {
			case ok && refusal.Retriable:
				return nil, sluice.CodeTargetAway.Errorf("%q says to try again, with %s.", at.Hostname(),
					refusal.Message)
			case ok:
				return nil, sluice.CodeKafkaFailed.Errorf("The cluster %q refuses with %s.", at.Hostname(),
					refusal.Message)
			case err != nil:
				return nil, away(at, err)
			}
			return map[string]any{"partition": int(record.Partition), "offset": int(record.Offset)}, nil
		})
}

// validTopic says what is wrong with the name of a topic.
func validTopic(name any) error {
	if text, _ := name.(string); !kafkaTopic.MatchString(text) {
		return errors.New("must be 1 to 249 letters, digits, dots, _ and -")
	}
	return nil
}

// record returns what is sent.
func (p kafkaParams) record() (*kgo.Record, error) {
	if fault := validTopic(p.Topic); fault != nil {
		return nil, invalid("topic", "%s", fault)
	}
	r := &kgo.Record{Topic: p.Topic}
	text, err := cellOf(p.Value)
	if err != nil {
		return nil, err
	}
	r.Value = []byte(text)
	if p.Value == nil {
		r.Value = nil // which deletes what has that key, in a topic that is compacted
	}
	if p.Key != nil {
		if text, err = cellOf(p.Key); err != nil {
			return nil, err
		}
		r.Key = []byte(text)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		if text, err = cellOf(p.Headers[name]); err != nil {
			return nil, err
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(text)})
	}
	return r, nil
}

// A cluster is a client of Kafka.
type cluster struct {
	*kgo.Client

	reached atomic.Bool
	refused func()        // is called when a broker is where pipelines may not call
	over    chan struct{} // is closed then
}

// openCluster returns the client of a cluster, without a connection yet.
func (c *client) openCluster(a address) (*cluster, error) {
	query := a.full.Query()
	secure, mechanism := query.Get("tls"), mechanismOf(query.Get("mechanism"), a)
	query.Del("tls")
	query.Del("mechanism")
	switch {
	case a.full.Scheme != "kafka":
		return nil, outward.SecretError{Fault: "must be a URL such as kafka://user:password@host:9092,host:9092"}
	case len(query) > 0 || !slices.Contains([]string{"", "true", "false"}, secure):
		return nil, outward.SecretError{Fault: "must have nothing in its query but tls=true and mechanism"}
	case mechanism == nil:
		return nil, outward.SecretError{Fault: "must name PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 as its mechanism"}
	}
	k := &cluster{over: make(chan struct{})}
	k.refused = sync.OnceFunc(func() { close(k.over) })
	options := []kgo.Opt{
		kgo.SeedBrokers(a.hosts...), kgo.ClientID("sluice"), kgo.MaxBufferedBytes(maxKafkaBytes),
		kgo.MetadataMinAge(time.Second), kgo.ProducerLinger(0), kgo.DisableClientMetrics(),
		kgo.MaxProduceRequestsInflightPerBroker(1), // what waits meanwhile goes together
		kgo.Dialer(c.brokerDialer(k, secure == "true")),
	}
	if a.full.User != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	var err error
	if k.Client, err = kgo.NewClient(options...); err != nil {
		return nil, outward.SecretError{Fault: "must name brokers as host:9092"}
	}
	return k, nil
}

// mechanismOf returns how a user signs in, nil if that is not known.
func mechanismOf(name string, a address) sasl.Mechanism {
	user := a.full.User.Username()
	switch signer := (scram.Auth{User: user, Pass: a.password}); name {
	case "", "PLAIN":
		return plain.Auth{User: user, Pass: a.password}.AsMechanism()
	case "SCRAM-SHA-256":
		return signer.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return signer.AsSha512Mechanism()
	}
	return nil
}

// brokerDialer returns how brokers are dialled, those that the cluster names included.
func (c *client) brokerDialer(k *cluster, secure bool) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := c.guard.DialContext(ctx, network, address)
		if errors.Is(err, outward.ErrRefused) {
			k.refused()
		}
		if err != nil || !secure {
			return conn, err
		}
		settings := cmp.Or(c.TLS, &tls.Config{MinVersion: tls.VersionTLS12}).Clone()
		settings.ServerName, _, _ = net.SplitHostPort(address)
		return tls.Client(conn, settings), nil
	}
}

// send sends a record, and returns when all in-sync replicas have it. What was sent before ctx ends
// may still arrive.
func (k *cluster) send(ctx context.Context, record *kgo.Record) error {
	if !k.reached.Load() { // a ping says why it can't be reached, while sending would go on trying
		if err := k.Ping(ctx); err != nil {
			return err
		}
		k.reached.Store(true)
	}
	done := make(chan error, 1)
	k.Produce(ctx, record, func(_ *kgo.Record, err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-k.over:
		return outward.ErrRefused
	case <-ctx.Done():
		return ctx.Err()
	}
}
