package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sluice"
	"sluice/step/postgrestest"
)

// kindsOfTargets are the kinds whose pipelines reach a database and a cluster. There are none where no
// PostgreSQL is installed.
func kindsOfTargets() []walkKind {
	if postgrestest.Programs() == "" {
		return nil
	}
	return []walkKind{targetKind("inserted", `
  - sql.exec:
      database: walk-database
      statement: insert into calls (id, mark) values ($1, $2) on conflict (id) do nothing
      values: ['#{vars.id}', '#{vars.mark}']
`), targetKind("produced", `
  - kafka.send: {cluster: walk-cluster, topic: calls, key: '#{vars.id}', value: '#{vars.mark}'}
`)}
}

func targetKind(name, step string) walkKind {
	return walkKind{name, map[string]any{"payloadType": "raw"}, `
retry: {times: 5, backoff: 100ms, maxBackoff: 500ms}
vars: {id: '#{body.forwardId}', mark: '#{body.payload.mark}'}
pipeline:
  - event.listen: {eventKey: webhook.walk.` + name + `}
  - iam.run.as: {username: admin}` + step + `  - set: {value: '#{vars.mark}'}
`, 5, false, isMark}
}

// targets are a database and a cluster that pipelines of a walk reach.
type targets struct {
	server   *postgrestest.Server
	database *pgx.Conn
	cluster  *kfake.Cluster
	reader   *kgo.Client
	read     int64                     // records
	keys     map[string]map[string]int // of the records so far, by their marks
}

const targetTopic = "calls"

// startTargets starts them; nil without an error where no PostgreSQL is installed.
func startTargets(ctx context.Context) (t *targets, err error) {
	t = &targets{keys: make(map[string]map[string]int)}
	if t.server, err = postgrestest.Start(""); t.server == nil {
		return nil, err
	}
	if err == nil {
		t.database, err = t.connect(ctx)
	}
	if err == nil {
		_, err = t.database.Exec(ctx, "create table calls (id text primary key, mark text)")
	}
	if err == nil {
		t.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, targetTopic))
	}
	if err == nil {
		t.reader, err = kgo.NewClient(kgo.SeedBrokers(t.cluster.ListenAddrs()...), kgo.ConsumeTopics(targetTopic))
	}
	if err != nil {
		t.stop()
		return nil, err
	}
	return t, nil
}

// connect connects to the database, which refuses that while it starts.
func (t *targets) connect(ctx context.Context) (conn *pgx.Conn, err error) {
	for until := time.Now().Add(startWithin); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx, pause) {
		if conn, err = pgx.Connect(ctx, t.server.URL); err == nil {
			return conn, nil
		}
	}
	return nil, errors.Join(err, ctx.Err())
}

func (t *targets) stop() {
	if t == nil {
		return
	}
	if t.reader != nil {
		t.reader.Close()
	}
	if t.cluster != nil {
		t.cluster.Close()
	}
	t.server.Stop()
}

// storeAddresses lets pipelines know where the targets are.
func (t *targets) storeAddresses(ctx context.Context, w *walk) (err error) {
	if t == nil {
		return nil
	}
	for name, address := range map[string]string{
		"walk-database": t.server.URL, "walk-cluster": "kafka://" + t.cluster.ListenAddrs()[0],
	} {
		err = errors.Join(err, w.may(ctx, "secret.put", map[string]any{"name": name, "value": address}, nil))
	}
	return err
}

// breakOff ends all connections to the database, and that of the next record, before it is stored.
func breakOff(ctx context.Context, w *walk) error {
	if w.targets == nil {
		return nil
	}
	broken := errors.New("broken off")
	w.targets.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, broken, true
	})
	_, err := w.targets.database.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity "+
		"where pid <> pg_backend_pid() and usename = current_user")
	return err
}

// rows returns the ids of the rows that there are, by their marks.
func (t *targets) rows(ctx context.Context) (ids map[string]map[string]int, err error) {
	rows, err := t.database.Query(ctx, "select id, mark from calls")
	if err != nil {
		return nil, err
	}
	ids = make(map[string]map[string]int)
	var id, mark string
	_, err = pgx.ForEachRow(rows, []any{&id, &mark}, func() error {
		count(ids, mark, id)
		return nil
	})
	return ids, err
}

// records returns the keys of the records that there are, by their marks.
func (t *targets) records(ctx context.Context) (map[string]map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, agreeTime)
	defer cancel()
	for t.read < t.cluster.PartitionInfo(targetTopic, 0).HighWatermark {
		fetched := t.reader.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			return nil, err
		}
		fetched.EachRecord(func(r *kgo.Record) {
			t.read = r.Offset + 1
			count(t.keys, string(r.Value), string(r.Key))
		})
	}
	return t.keys, nil
}

func count(by map[string]map[string]int, mark, id string) {
	if by[mark] == nil {
		by[mark] = make(map[string]int)
	}
	by[mark][id]++
}

// checkTargets: what went well has reached its target, and under one id, however often it was attempted
// or replayed: a database that takes an id once has one row of it.
func (w *walk) checkTargets(ctx context.Context, byTrace map[string][]sluice.Call) {
	if w.targets == nil {
		return
	}
	rows, err := w.targets.rows(ctx)
	if err == nil {
		var records map[string]map[string]int
		if records, err = w.targets.records(ctx); err == nil {
			w.checkArrived("inserted", rows, byTrace)
			w.checkArrived("produced", records, byTrace)
		}
	}
	if err != nil && ctx.Err() == nil {
		w.blamef("the targets can't be asked: %s", err)
	}
}

func (w *walk) checkArrived(kind string, arrived map[string]map[string]int, byTrace map[string][]sluice.Call) {
	for mark, ids := range arrived {
		if len(ids) > 1 {
			w.blamef("the call %s of %s arrived under the ids %v", mark, kind, slices.Sorted(maps.Keys(ids)))
		}
	}
	for _, c := range w.calls {
		found := byTrace[c.traceID]
		if c.kind != kind || c.erased || len(found) != 1 || found[0].Status == sluice.StatusError {
			continue
		}
		ids := arrived[c.mark] // the engine may have had a call before the spool took it, and ran it by an id of its own
		if ids[c.correlationID]+ids[found[0].CorrelationID] == 0 {
			w.blamef("the call %s of %s is %s, and its target has it under the ids %v, and not %s", c.traceID, kind,
				found[0].Status, slices.Sorted(maps.Keys(ids)), c.correlationID)
		}
	}
}
