package jetstream

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// TestLayout: an engine that was just opened has the streams of the table, none besides,
// each with the subjects and the age that the table gives it.
func TestLayout(t *testing.T) {
	t.Parallel()
	const events, results = 2 * time.Hour, 3 * time.Hour
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxAge: events, ResultTTL: results})
	want := map[string]struct {
		subjects string
		age      time.Duration
	}{
		stream.Events:      {"svc.event.> svc.message.> svc.direct.>", 0}, // they are trimmed
		stream.Results:     {"svc.result.>", results},
		stream.Waiting:     {"svc.waiting.>", 0},
		stream.DeadLetters: {stream.DeadLetterPrefix + ">", stream.DeadLetterAge},
		stream.Quarantine:  {stream.QuarantinePrefix + ">", stream.QuarantineAge},
		stream.Audit:       {stream.ChangeSubject + " " + stream.AccessSubject, stream.AuditAge},
		stream.Journal:     {stream.ChunkPrefix + ">", events},
		stream.Index:       {stream.IndexPrefix + ">", events + stream.IndexBeyond},
		stream.Loose:       {stream.LoosePrefix + ">", events},
		stream.Sealed:      {stream.SealedSubject, 0},
		stream.Deliveries:  {stream.DeliveriesSubject, stream.DeliveriesAge},
	}
	var buckets []string
	found := e.host.JS.ListStreams(t.Context())
	for info := range found.Info() {
		name, subjects := info.Config.Name, strings.Join(info.Config.Subjects, " ")
		if bucket, ok := strings.CutPrefix(name, stream.BucketPrefix); ok {
			checkBucket(t, bucket, info.Config)
			bucket, _, _ = strings.Cut(bucket, "-")
			buckets = append(buckets, bucket)
			continue
		}
		if w, known := want[name]; !known || subjects != w.subjects || info.Config.MaxAge != w.age {
			t.Errorf("there is %s with %s for %v; want %+v", name, subjects, info.Config.MaxAge, w)
		}
		delete(want, name)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", slices.Sorted(maps.Keys(want)))
	}
	records := []string{
		stream.Accounts, stream.Clients, stream.LowWater, stream.Hours, stream.Keys, stream.Minutes, stream.Pipelines, stream.PortalSessions,
		stream.Roles, stream.Secrets, stream.Sessions, stream.SigningKeys, stream.PipelineStates, stream.Versions, stream.Webhooks,
	}
	if slices.Sort(buckets); !slices.Equal(buckets, records) {
		t.Errorf("the buckets are %v; want %v", buckets, records)
	}
}

// checkBucket checks the stream of a bucket.
func checkBucket(t *testing.T, bucket string, c jetstream.StreamConfig) {
	t.Helper()
	if subjects := strings.Join(c.Subjects, " "); subjects != stream.BucketSubjects+bucket+".>" || c.MaxAge != 0 {
		t.Errorf("the bucket %s has %s for %v", bucket, subjects, c.MaxAge)
	}
}
