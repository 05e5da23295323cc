package jetstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// blockOf returns a file of messages of a stream.
func blockOf(dir, stream string, number int) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", stream, "msgs", fmt.Sprintf("%d.blk", number))
}

// streamOf returns the name of the stream that a bucket is stored in.
func streamOf(t *testing.T, e *Engine, name string) string {
	t.Helper()
	for _, b := range e.withKeys() {
		if b.Name() == name {
			has, err := b.Extent(t.Context())
			check(t, err)
			return "KV_" + has.Bucket
		}
	}
	t.Fatalf("there is no bucket %s", name)
	return ""
}

// What may happen to a file.
var harms = map[string]func(t *testing.T, file string){
	"missing": func(t *testing.T, file string) { check(t, os.Remove(file)) },
	"zeros": func(t *testing.T, file string) {
		content, err := os.ReadFile(file)
		check(t, err)
		check(t, os.WriteFile(file, make([]byte, len(content)), 0o600))
	},
	"cut": func(t *testing.T, file string) {
		info, err := os.Stat(file)
		check(t, err)
		check(t, os.Truncate(file, info.Size()/2))
	},
	"flipped": func(t *testing.T, file string) {
		content, err := os.ReadFile(file)
		check(t, err)
		for i := range 64 {
			content[len(content)/2+i] ^= 0xff
		}
		check(t, os.WriteFile(file, content, 0o600))
	},
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pretendKill makes a folder look as after a kill: nothing says that the stop was
// clean, and the engine reads its blocks.
func pretendKill(t *testing.T, dir string) {
	t.Helper()
	check(t, os.Remove(filepath.Join(dir, stopNote)))
	indexes, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "*", "msgs", "index.db"))
	check(t, err)
	for _, index := range indexes {
		check(t, os.Remove(index))
	}
}

// TestLostEventsAreCounted: whatever happens to a block of events, exactly the unreadable ones
// are counted, and a damaged record costs no other.
func TestLostEventsAreCounted(t *testing.T) {
	t.Parallel()
	opts := Options{Dir: t.TempDir(), EventMaxBytes: 120 << 10} // the blocks are of 32 KiB then
	e := openEngine(t, opts)
	var ids []string
	for i := range 60 {
		big := event(fmt.Sprintf("abcdef:%010d", i))
		big.Payload = json.RawMessage(`"` + strings.Repeat("x", 1<<10) + `"`)
		result, err := e.Events.Accept(t.Context(), big, 0)
		check(t, err)
		ids = append(ids, result.CorrelationID)
	}
	e.Close()
	for name, harm := range harms {
		for _, block := range []int{1, 2, 3} {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprintf("block %d %s, killed %v", block, name, killed), func(t *testing.T) {
					t.Parallel()
					opts := opts
					whole := opts.Dir
					opts.Dir = t.TempDir()
					check(t, os.CopyFS(opts.Dir, os.DirFS(whole)))
					if killed {
						pretendKill(t, opts.Dir)
					}
					harm(t, blockOf(opts.Dir, stream.Events, block))
					e := openEngine(t, opts)
					check(t, e.Ready())
					var gone []int
					for i, id := range ids {
						if _, err := e.Results.Result(t.Context(), id, 0); err != nil {
							gone = append(gone, i+1)
						}
					}
					if lost := e.Stored.lost.Load(); lost != int64(len(gone)) || lost == 0 {
						t.Errorf("%d events are said to be lost, but these are: %v", lost, gone)
					}
					if name == "flipped" && len(gone) > 2 { // the damage may be where two meet
						t.Errorf("two damaged records cost the events %v", gone)
					}
					if len(e.Warnings()) == 0 {
						t.Error("there are no warnings")
					}
				})
			}
		}
	}
}

// storeSome stores some records in every bucket.
func storeSome(t *testing.T, e *Engine) {
	t.Helper()
	for i := range 5 {
		key := fmt.Sprintf("b82c8627-4ca1-4c7a-b273-2bfd67c0000%d", i)
		storeIn(t, e.Webhooks, key)
		storeIn(t, e.Accounts, key)
		storeIn(t, e.Roles, key)
		storeIn(t, e.Clients, key)
		storeIn(t, e.Sessions, key)
		storeIn(t, e.SigningKeys, key)
		storeIn(t, e.PortalSessions, key)
		storeIn(t, e.Minutes, key)
		storeIn(t, e.Hours, key)
		storeIn(t, e.PipelineStates, key)
		storeIn(t, e.Alerts, key)
		storeIn(t, e.AlertRules, key)
		storeIn(t, e.Tickings, key)
		storeIn(t, e.Closed, key)
		storeIn(t, e.Certificates, key)
		storeIn(t, e.Missed, key)
		storeIn(t, e.Versions, key)
		storeIn(t, e.Secrets, key)
		storeIn(t, e.Erasures.records, key)
		storeIn(t, e.forgotten.Bucket, key)
	}
}

func storeIn[T any](t *testing.T, b *record.Bucket[T], key string) {
	t.Helper()
	_, err := b.Change(t.Context(), key, func(*T, map[string]*T) (*T, error) { return new(T), nil })
	check(t, err)
}

// TestADamagedBucketIsNotAnEmptyOne: a damaged disk must not make tokens unknown, or drop
// consumers.
func TestADamagedBucketIsNotAnEmptyOne(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	e := openEngine(t, Options{Dir: whole})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.p", 1)
	storeSome(t, e)
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) { return ok(p.Name, `1`), nil })
	send(t, e, "webhook.p", patience)
	natstest.Eventually(t, "the floor is known", func() bool {
		check(t, e.Queue.LowWater.Write(t.Context()))
		return e.Queue.LowWater.Of(p.Binding.ID) > 0
	})
	stored := make(map[string]string)
	for _, b := range e.withKeys() {
		stored[b.Name()] = streamOf(t, e, b.Name())
	}
	e.Close()
	harms := maps.Clone(harms)
	harms["flipped after a clean stop"] = harms["flipped"]
	inEveryWay := []string{"webhooks", "pipelines", "accounts", "keys"}
	for bucket, kept := range stored {
		for name, harm := range harms {
			if name != "zeros" && !slices.Contains(inEveryWay, bucket) {
				continue
			}
			t.Run(bucket+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				check(t, os.CopyFS(dir, os.DirFS(whole)))
				if !strings.HasSuffix(name, "clean stop") {
					pretendKill(t, dir)
				}
				harm(t, blockOf(dir, kept, 1))
				e := openUnready(t, Options{Dir: dir})
				if warnings := strings.Join(e.Warnings(), "; "); !strings.Contains(warnings, bucket) {
					t.Errorf("the warnings are %q", warnings)
				}
				if slices.Contains(statistics, bucket) {
					check(t, e.Ready())
					return
				}
				for range 2 { // nothing makes up for it at the first start
					err := e.Ready()
					wantKind(t, err, sluice.Unavailable)
					if !strings.Contains(err.Error(), bucket) {
						t.Errorf("it says %v", err)
					}
					if info, err := e.host.JS.Stream(t.Context(), stream.Events); err != nil || info.CachedInfo().State.Consumers != 1 {
						t.Errorf("the consumer of the pipeline was dropped (%v)", err)
					}
					e.Close()
					e = openUnready(t, Options{Dir: dir})
				}
				e.Close()
				check(t, AcceptDamage(dir))
				check(t, openUnready(t, Options{Dir: dir}).Ready())
			})
		}
	}
}

// TestAcceptedDamageLeavesNothingOut: new events that get the sequences of lost ones are run,
// even if the loss was accepted.
func TestAcceptedDamageLeavesNothingOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.p", 1)
	runs := make(chan string, 100)
	run := func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.TraceID
		return ok(p.Name, `1`), nil
	}
	storeSome(t, e)
	stop := consume(t, e, p, run)
	for range 3 {
		send(t, e, "webhook.p", patience)
	}
	natstest.Eventually(t, "the floor is known", func() bool {
		check(t, e.Queue.LowWater.Write(t.Context()))
		return e.Queue.LowWater.Of(p.Binding.ID) == 3
	})
	webhooks := streamOf(t, e, "webhooks")
	stop()
	e.Close()
	pretendKill(t, dir)
	harms["missing"](t, blockOf(dir, stream.Events, 1))
	harms["missing"](t, blockOf(dir, webhooks, 1))
	e = openUnready(t, Options{Dir: dir})
	wantKind(t, e.Ready(), sluice.Unavailable)
	e.Close()
	check(t, AcceptDamage(dir))
	e = openEngine(t, Options{Dir: dir})
	consume(t, e, p, run)
	send(t, e, "webhook.p", patience)
	if len(runs) != 4 {
		t.Errorf("there were %d runs of 4 events", len(runs))
	}
	if lost := e.Stored.lost.Load(); lost != 3 {
		t.Errorf("%d events are said to be lost", lost)
	}
}

// TestRecordsOutliveWhatSaysThatTheyCount: the current generation is in a small file of its
// own, with a copy elsewhere.
func TestRecordsOutliveWhatSaysThatTheyCount(t *testing.T) {
	t.Parallel()
	for name, harm := range harms {
		for _, file := range []string{"meta.inf", "msgs/1.blk"} {
			for _, accepted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, accepted %v", file, name, accepted), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					e := openEngine(t, Options{Dir: dir})
					bind(t, e, "p", sluice.EventPrefix+"webhook.p", 1)
					e.Close()
					pretendKill(t, dir)
					harm(t, filepath.Join(dir, "jetstream", "$G", "streams", "SEALED", file))
					if accepted {
						check(t, AcceptDamage(dir))
					}
					e = openEngine(t, Options{Dir: dir})
					check(t, e.Ready())
					if e.Pipelines.Copy("p") == nil {
						t.Error("the pipeline is gone")
					}
					if len(e.Warnings()) == 0 {
						t.Error("there are no warnings")
					}
				})
			}
		}
	}
}

// TestAPipelineGoesOnWithoutItsState: whatever happens to the state of a consumer, finished
// events are not run again, and the others are.
func TestAPipelineGoesOnWithoutItsState(t *testing.T) {
	t.Parallel()
	for name, harm := range harms {
		if name == "flipped" {
			continue // the state is shorter than that
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := openEngine(t, Options{Dir: dir})
			p := bind(t, e, "p", sluice.EventPrefix+"webhook.state", 1)
			runs := make(chan string, 100)
			run := func(d sluice.Delivery) (sluice.Outcome, error) {
				runs <- d.TraceID
				return ok(p.Name, `1`), nil
			}
			stop := consume(t, e, p, run)
			for range 3 {
				send(t, e, "webhook.state", patience)
			}
			stop()
			e.Close()
			harm(t, stateOf(dir, p))
			e = openEngine(t, Options{Dir: dir})
			consume(t, e, p, run)
			send(t, e, "webhook.state", patience)
			if len(runs) != 4 {
				t.Errorf("there were %d runs of 4 events", len(runs))
			}
			if warnings := strings.Join(e.Warnings(), "\n"); name != "missing" && !strings.Contains(warnings, "queues of pipelines") {
				t.Errorf("the warnings are %q", warnings)
			}
		})
	}
}
