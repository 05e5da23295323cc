package jetstream

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/natstest"
	"sluice/jetstream/stream"
)

// TestLayout: an engine that was just opened has the streams of the table, none besides,
// each with the subjects, the age and the size that the table gives it.
func TestLayout(t *testing.T) {
	t.Parallel()
	const events, results = 2 * time.Hour, 3 * time.Hour
	type kept struct {
		subjects string
		age      time.Duration
		bytes    int64 // 0: it is not in the table
	}
	ofEvents := stream.EventPrefix + "> " + stream.MessagePrefix + "> " + stream.DirectPrefix + ">"
	all := map[string]kept{
		stream.Events:      {ofEvents, 0, 0}, // they are trimmed
		stream.Results:     {stream.OutcomePrefix + ">", results, 0},
		stream.Waiting:     {stream.WaitingPrefix + ">", 0, 0},
		stream.DeadLetters: {stream.DeadLetterPrefix + ">", stream.DeadLetterAge, stream.DeadLetterBytes},
		stream.Quarantine:  {stream.QuarantinePrefix + ">", stream.QuarantineAge, stream.QuarantineBytes * 5 / 4},
		stream.Audit:       {stream.ChangeSubject + " " + stream.AccessSubject, stream.AuditAge, stream.AuditBytes},
		stream.Journal:     {stream.ChunkPrefix + ">", events, 0},
		stream.Index:       {stream.IndexPrefix + ">", events + stream.IndexBeyond, stream.IndexBytes},
		stream.Loose:       {stream.LoosePrefix + ">", events, stream.LooseBytes},
		stream.Sealed:      {stream.SealedSubject, 0, 0},
	}
	embedded, external := maps.Clone(all), maps.Clone(all)
	embedded[stream.Deliveries] = kept{stream.DeliveriesSubject, stream.DeliveriesAge, stream.DeliveriesBytes}
	external[stream.Events] = kept{ofEvents + " " + stream.DeliveryPrefix + "> " + stream.SpooledPrefix + ">", 0, 0}
	for name, test := range map[string]struct {
		opts Options
		want map[string]kept
	}{
		"embedded": {Options{Dir: t.TempDir()}, embedded},
		"external": {Options{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1}, external},
	} {
		t.Run(name, func(t *testing.T) {
			test.opts.EventMaxAge, test.opts.ResultTTL = events, results
			e := openEngine(t, test.opts)
			var buckets []string
			found := e.host.JS.ListStreams(t.Context())
			for info := range found.Info() {
				c, subjects := info.Config, strings.Join(info.Config.Subjects, " ")
				if bucket, ok := strings.CutPrefix(c.Name, stream.BucketPrefix); ok {
					checkBucket(t, bucket, c)
					bucket, _, _ = strings.Cut(bucket, "-")
					buckets = append(buckets, bucket)
					continue
				}
				if w, known := test.want[c.Name]; !known || subjects != w.subjects || c.MaxAge != w.age || w.bytes > 0 && c.MaxBytes != w.bytes {
					t.Errorf("there is %s with %s for %v and %d bytes; want %+v", c.Name, subjects, c.MaxAge, c.MaxBytes, w)
				}
				delete(test.want, c.Name)
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			if len(test.want) > 0 {
				t.Errorf("there is no %v", slices.Sorted(maps.Keys(test.want)))
			}
			records := []string{
				stream.Accounts, stream.AlertRules, stream.Alerts, stream.Certificates, stream.Clients, stream.Closed, stream.Erasures, stream.LowWater, stream.Forgotten, stream.Hours, stream.Keys, stream.Minutes, stream.Missed, stream.Pipelines, stream.PortalSessions,
				stream.Roles, stream.Secrets, stream.Sessions, stream.SigningKeys, stream.PipelineStates, stream.Tickings, stream.Versions, stream.Webhooks,
			}
			if slices.Sort(buckets); !slices.Equal(buckets, records) {
				t.Errorf("the buckets are %v; want %v", buckets, records)
			}
		})
	}
}

// checkBucket checks the stream of a bucket.
func checkBucket(t *testing.T, bucket string, c jetstream.StreamConfig) {
	t.Helper()
	if subjects := strings.Join(c.Subjects, " "); subjects != stream.BucketSubjects+bucket+".>" || c.MaxAge != 0 {
		t.Errorf("the bucket %s has %s for %v", bucket, subjects, c.MaxAge)
	}
}
