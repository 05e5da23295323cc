package step_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sluice"
	"sluice/step"
)

// kafka starts a cluster with the topic orders, and returns its brokers.
func kafka(t *testing.T, options ...kfake.Opt) (*kfake.Cluster, string) {
	t.Helper()
	cluster, err := kfake.NewCluster(append(options, kfake.SeedTopics(1, "orders"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster, strings.Join(cluster.ListenAddrs(), ",")
}

// sendStep returns a source that sends to a topic.
func sendStep(fields string) string {
	return "body: {a: '<b>'}\npipeline:\n- kafka.send: {cluster: k, " + fields + "}\n"
}

func TestRecordsAreSent(t *testing.T) {
	cluster, brokers := kafka(t, kfake.NumBrokers(3))
	var acks []int16
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		acks = append(acks, r.(*kmsg.ProduceRequest).Acks)
		return nil, nil, false
	})
	set := newSet(step.Options{HTTP: brief})
	for i, test := range []struct{ step, want string }{
		{"topic: orders", `<nil>={"a":"<b>"} []`},
		{"topic: orders, key: '#{1+1}', value: 'plain ä', headers: {b: 2, a: x}", "2=plain ä [a=x b=2]"},
		{"topic: orders, key: '', value: [1, null]", `=[1,null] []`},
		{"topic: orders, key: k, value: null", `k=<nil> []`},
	} {
		out, err := runWith(t, set, sendStep(test.step), map[string]string{"k": "kafka://" + brokers})
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, out.Body); got != fmt.Sprintf(`{"partition":0,"offset":%d}`, i) {
			t.Errorf("%s gives %s", test.step, got)
		}
		seen := out.Report.Steps[0].HTTP
		first, _, _ := strings.Cut(brokers, ",")
		if seen.Method != "KAFKA" || seen.URL != "kafka://"+first || seen.StatusCode != 200 || !strings.Contains(seen.Request, `"topic":"orders"`) || fmt.Sprint(out.Secrets, out.Hosts) != "[k] ["+first+"]" {
			t.Errorf("the report has %+v, the audit log %v, %v", seen, out.Secrets, out.Hosts)
		}
		if got := recordAt(t, brokers, int64(i)); got != test.want {
			t.Errorf("%s sends %s, want %s", test.step, got, test.want)
		}
	}
	if len(acks) == 0 || slices.ContainsFunc(acks, func(a int16) bool { return a != -1 }) {
		t.Errorf("asked for the acknowledgements %v, want those of all replicas", acks)
	}
}

// TestAClusterWithoutAPassword: its URL is the whole secret, and yet the report says where the record went.
func TestAClusterWithoutAPassword(t *testing.T) {
	_, broker := kafka(t, kfake.NumBrokers(1))
	out, err := runWith(t, newSet(step.Options{HTTP: brief}), sendStep("topic: orders"), map[string]string{"k": "kafka://" + broker})
	if err != nil {
		t.Fatal(err)
	}
	if seen := out.Report.Steps[0].HTTP; seen.URL != "//"+broker || fmt.Sprint(out.Secrets, out.Hosts) != "[k] ["+broker+"]" {
		t.Errorf("the report has %+v, the audit log %v, %v", seen, out.Secrets, out.Hosts)
	}
}

// recordAt returns the record of orders with an offset, as text.
func recordAt(t *testing.T, brokers string, offset int64) string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"orders": {0: kgo.NewOffset().At(offset)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	records := client.PollRecords(t.Context(), 1).Records()
	if len(records) == 0 {
		t.Fatal("there is no record")
	}
	text := func(b []byte) string {
		if b == nil {
			return "<nil>"
		}
		return string(b)
	}
	headers := []string{}
	for _, h := range records[0].Headers {
		headers = append(headers, h.Key+"="+string(h.Value))
	}
	return fmt.Sprintf("%s=%s %v", text(records[0].Key), text(records[0].Value), headers)
}

// TestBrokersSignIn: by each mechanism, with TLS, and not with a wrong password.
func TestBrokersSignIn(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	o := brief
	o.TLS = &tls.Config{RootCAs: roots}
	set := newSet(step.Options{HTTP: o})
	for mechanism, query := range map[string]string{"PLAIN": "?tls=true", "SCRAM-SHA-256": "?tls=true&mechanism=SCRAM-SHA-256", "SCRAM-SHA-512": "?mechanism=SCRAM-SHA-512&tls=true"} {
		t.Run(mechanism, func(t *testing.T) {
			cluster, brokers := kafka(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser(mechanism, "ada", "k4fka"), kfake.TLS(&tls.Config{Certificates: server.TLS.Certificates}))
			out, err := runWith(t, set, sendStep("topic: orders"), map[string]string{"k": "kafka://ada:k4fka@" + brokers + query})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(fmt.Sprint(*out.Report.Steps[0].HTTP), "k4fka") {
				t.Error("the report has the password")
			}
			wrong := func(kind sluice.Kind, code, says string) {
				t.Helper()
				out, err := runWith(t, set, sendStep("topic: orders"), map[string]string{"k": "kafka://ada:wr0ng@" + brokers + query})
				refuses(t, err, kind, code, says)
				if shown := fmt.Sprint(err, *out.Report.Steps[0].HTTP); strings.Contains(shown, "wr0ng") {
					t.Errorf("the password is in %s", shown)
				}
			}
			wrong(sluice.Unavailable, "target-away", "hangs up") // as old brokers do
			sayNo(cluster, mechanism != "PLAIN")
			wrong(sluice.Invalid, "kafka-failed", "SASL_AUTHENTICATION_FAILED")
		})
	}
}

// sayNo lets a cluster refuse to sign anybody in, as brokers do, at the second message if there are two.
func sayNo(cluster *kfake.Cluster, second bool) {
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if second {
			second = false
			return nil, nil, false
		}
		response := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		response.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return response, nil, true
	})
}

// TestRecordsFail: for good or for now, by the client's own word.
func TestRecordsFail(t *testing.T) {
	_, brokers := kafka(t, kfake.NumBrokers(1))
	answering := func(code int16) string {
		cluster, brokers := kafka(t, kfake.NumBrokers(1))
		cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			response := r.ResponseKind().(*kmsg.ProduceResponse)
			for _, topic := range r.(*kmsg.ProduceRequest).Topics {
				partition := kmsg.NewProduceResponseTopicPartition()
				partition.ErrorCode = code
				answer := kmsg.NewProduceResponseTopic()
				answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
				answer.Partitions = append(answer.Partitions, partition)
				response.Topics = append(response.Topics, answer)
			}
			return response, nil, true
		})
		return brokers
	}
	elsewhere, _ := kafka(t, kfake.NumBrokers(1), kfake.ListenFn(func(network, address string) (net.Listener, error) {
		return net.Listen(network, strings.Replace(address, "127.0.0.1", "127.0.0.2", 1))
	}))
	set := newSet(step.Options{HTTP: brief})
	for name, test := range map[string]struct {
		secret, step string
		kind         sluice.Kind
		code, says   string
		status       int
	}{
		"not allowed":       {answering(kerr.TopicAuthorizationFailed.Code), "topic: orders", sluice.Invalid, "kafka-failed", "TOPIC_AUTHORIZATION_FAILED", 400},
		"replicas":          {answering(kerr.NotEnoughReplicas.Code), "topic: orders, timeout: 500ms", sluice.Unavailable, "target-away", "took too long", 0},
		"too large":         {brokers, "topic: orders, value: '" + strings.Repeat("x", 1100_000) + "'", sluice.Invalid, "kafka-failed", "MESSAGE_TOO_LARGE", 400},
		"no such topic":     {brokers, "topic: nothing", sluice.Unavailable, "target-away", "try again, with UNKNOWN_TOPIC_OR_PARTITION", 0},
		"nobody there":      {"127.0.0.1:1", "topic: orders, timeout: 500ms", sluice.Unavailable, "target-away", "gives no answer", 0},
		"a private network": {elsewhere.ListenAddrs()[0], "topic: orders", sluice.Forbidden, "address-refused", "127.0.0.2", 400},
		"a strange URL":     {"", "topic: orders", sluice.Invalid, "auth-failed", "must be a URL such as", -1},
		"a setting":         {"x:1/?acks=0", "topic: orders", sluice.Invalid, "auth-failed", "must have nothing in its query", -1},
		"perhaps by TLS":    {"a:p4ssword@" + brokers + "?tls=yes", "topic: orders", sluice.Invalid, "auth-failed", "tls=true", -1},
		"no mechanism":      {"a:p4ssword@" + brokers + "?mechanism=GSSAPI", "topic: orders", sluice.Invalid, "auth-failed", "SCRAM-SHA-512 as its mechanism", -1},
		"a strange topic":   {brokers, "topic: '#{\"a b\"}'", sluice.Invalid, "parameter-invalid", "249 letters", -1},
		"no topic":          {brokers, "topic: '#{\"\"}'", sluice.Invalid, "parameter-invalid", "249 letters", -1},
		"at once":           {brokers, "topic: orders, timeout: '#{0}'", sluice.Invalid, "parameter-invalid", "duration from 1ms to 5m", -1},
	} {
		t.Run(name, func(t *testing.T) {
			text := sendStep(test.step)
			if name == "too large" {
				text = "body: '" + strings.Repeat("x", 200_000) + "'\npipeline:\n- kafka.send: {cluster: k, topic: orders, value: '#{body + body + body + body + body + body}'}\n"
			}
			out, err := runWith(t, set, text, map[string]string{"k": "kafka://" + test.secret})
			refuses(t, err, test.kind, test.code, test.says)
			if strings.Contains(fmt.Sprint(err), "p4ssword") {
				t.Errorf("the password is in %v", err)
			}
			if seen := out.Report.Steps[0].HTTP; test.status < 0 && seen != nil || test.status >= 0 && (seen == nil || seen.StatusCode != test.status) {
				t.Errorf("the report has %+v", seen)
			}
		})
	}
}

// TestClustersComeBack: also if their topics were made anew, of which a client that knew them would know nothing.
func TestClustersComeBack(t *testing.T) {
	cluster, brokers := kafka(t, kfake.NumBrokers(1))
	o := brief
	o.Idle = 200 * time.Millisecond
	set := newSet(step.Options{HTTP: o})
	send := func() error {
		_, err := runWith(t, set, sendStep("topic: orders, timeout: 2s"), map[string]string{"k": "kafka://" + brokers})
		return err
	}
	if err := send(); err != nil {
		t.Fatal(err)
	}
	cluster.Close()
	refuses(t, send(), sluice.Unavailable, "target-away", "gives no answer")
	refuses(t, send(), sluice.Unavailable, "target-away", "refuses connections")
	_, port, _ := net.SplitHostPort(brokers)
	number, _ := strconv.Atoi(port)
	kafka(t, kfake.NumBrokers(1), kfake.Ports(number))
	if err := send(); err != nil {
		t.Error(err)
	}
}

// TestBrokersThatAClusterNames: are called only where pipelines may call.
func TestBrokersThatAClusterNames(t *testing.T) {
	cluster, brokers := kafka(t, kfake.NumBrokers(1))
	cluster.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := r.ResponseKind().(*kmsg.MetadataResponse)
		broker := kmsg.NewMetadataResponseBroker()
		broker.Host, broker.Port = "127.0.0.2", 9092
		response.Brokers = append(response.Brokers, broker)
		for _, asked := range r.(*kmsg.MetadataRequest).Topics {
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.TopicID = asked.Topic, [16]byte{1}
			topic.Partitions = append(topic.Partitions, kmsg.NewMetadataResponseTopicPartition())
			response.Topics = append(response.Topics, topic)
		}
		return response, nil, true
	})
	set := newSet(step.Options{HTTP: brief})
	began := time.Now()
	_, err := runWith(t, set, sendStep("topic: orders"), map[string]string{"k": "kafka://" + brokers})
	refuses(t, err, sluice.Forbidden, "address-refused", "private or reserved network")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	object := v.(map[string]any)
	return fmt.Sprintf(`{"partition":%v,"offset":%v}`, object["partition"], object["offset"])
}
