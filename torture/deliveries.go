package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/anishathalye/porcupine"

	"sluice"
)

// deliveriesMode calls several nodes with the same delivery ids at the same time, kills
// nodes and servers meanwhile, and lets porcupine decide whether there is an order of the
// calls in which each id has one event: the first call makes it, and all others are
// answered with it.
var deliveriesMode = mode{
	name:    "deliveries",
	summary: "repeat deliveries at several nodes, and kill these",
	run:     runDeliveries,
}

func runDeliveries(ctx context.Context, s settings) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tdeliveries\tcalls\tanswered\tevents beyond the first\tone event for each delivery\t")
	var failed error
	try := func(name string, deduped bool) {
		h, stored, err := recordDeliveries(ctx, s, deduped)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			return
		}
		result := porcupine.CheckOperationsTimeout(oneEvent.ToModel(), h.operations, time.Minute)
		twice, answered := 0, 0
		for _, times := range stored {
			twice += len(times) - 1
		}
		for _, o := range h.operations {
			if o.Output.(delivered).answered {
				answered++
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%v\t\n", name, len(stored), len(h.operations), answered, twice, result)
		switch {
		case deduped && (result != porcupine.Ok || twice > 0):
			failed = errors.Join(failed,
				fmt.Errorf("%s: a delivery has several events, or porcupine says %v", name, result))
		case !deduped && (result != porcupine.Illegal || twice == 0):
			failed = errors.Join(failed, fmt.Errorf("%s: the test can't detect several events", name))
		}
	}
	for i := range s.cycles {
		try(fmt.Sprintf("cycle %d", i+1), true)
	}
	if s.negative {
		try("negative control", false)
	}
	return errors.Join(failed, w.Flush())
}

// What came of a call: nobody knows, or its event, and whether that is said to be of an
// earlier call.
type delivered struct {
	answered  bool
	event     string // its correlation id
	duplicate bool
}

// unknownEvent is that of a call that was not answered.
const unknownEvent = "?"

// oneEvent says what may come of calls of one delivery. Its state is the delivery's event;
// "" as long as there is none.
var oneEvent = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byID := make(map[uint64][]porcupine.Operation)
		for _, o := range history {
			id := o.Input.(uint64)
			byID[id] = append(byID[id], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byID {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, _, output any) []any {
		event, out := state.(string), output.(delivered)
		switch {
		case !out.answered && event == "":
			return []any{"", unknownEvent}
		case !out.answered:
			return []any{event}
		case !out.duplicate && event == "", out.duplicate && (event == out.event || event == unknownEvent):
			return []any{out.event}
		}
		return nil
	},
}

// A history is calls as their callers saw them.
type history struct {
	mu         sync.Mutex
	operations []porcupine.Operation
}

const (
	repeats      = 6  // calls of each delivery
	deliveriesAt = 12 // callers
)

// recordDeliveries calls a rig while its nodes and servers are killed, and reads what is
// stored at the end.
func recordDeliveries(ctx context.Context, s settings, deduped bool) (*history, map[uint64][]time.Time, error) {
	// Without spools: a call that waits in one has an id of its own for a while.
	r, err := startRig(ctx, s.dir, rigOptions{servers: 3, bytes: "1GiB", bare: true})
	if err != nil {
		return nil, nil, err
	}
	defer r.stop()
	api := newClient(r.nodes[0].url, 1)
	defer api.close()
	dedupe := "off"
	if deduped {
		dedupe = "query:id"
	}
	var hook sluice.Webhook
	if err := api.command(ctx, "webhook.put", map[string]any{
		"eventKey": "webhook.delivered", "dedupe": dedupe,
	}, &hook); err != nil {
		return nil, nil, err
	}
	h, began := new(history), time.Now()
	loading, stop := context.WithCancel(ctx)
	var callers sync.WaitGroup
	var calls atomic.Uint64
	for i := range deliveriesAt {
		callers.Go(func() {
			for loading.Err() == nil {
				h.call(ctx, r.nodes[rand.IntN(len(r.nodes))].listen, i, hook.UUID, 1+calls.Add(1)/repeats, began)
				sleep(loading, callPause)
			}
		})
	}
	err = killInTurn(ctx, r)
	stop()
	callers.Wait()
	if err = errors.Join(err, r.settle(ctx)); err != nil {
		return nil, nil, err
	}
	stored, err := r.stored(ctx)
	return h, stored, err
}

// killInTurn kills two nodes, then the server that leads the events, each for a while.
func killInTurn(ctx context.Context, r *rig) error {
	for _, n := range r.nodes[:2] {
		sleep(ctx, 2*time.Second)
		n.process.kill()
		sleep(ctx, 500*time.Millisecond)
		if err := r.startNode(ctx, n); err != nil {
			return err
		}
	}
	leader, err := r.leader(ctx, "")
	if err != nil {
		return err
	}
	sleep(ctx, 2*time.Second)
	leader.process.kill()
	sleep(ctx, 2*time.Second)
	return errors.Join(r.startServer(ctx, leader), r.caughtUp(ctx))
}

// call makes one call of a delivery and notes it.
func (h *history) call(ctx context.Context, node string, caller int, token string, id uint64, began time.Time) {
	o := porcupine.Operation{ClientId: caller, Input: id, Call: int64(time.Since(began))}
	out, err := deliver(ctx, node, token, id)
	o.Output, o.Return = out, int64(time.Since(began))
	if err != nil {
		o.Return = math.MaxInt64 // it may be stored at any time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, o)
}

func deliver(ctx context.Context, node, token string, id uint64) (out delivered, err error) {
	target := "http://" + node + "/api/v3/command/webhook.receive?id=" + strconv.FormatUint(id, 10)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(appendBody(nil, id)))
	if err != nil {
		return out, err
	}
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", "application/octet-stream")
	answer, err := patient.Do(r)
	if err != nil {
		return out, err
	}
	defer answer.Body.Close()
	var result sluice.Result
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		return out, err
	}
	if answer.StatusCode != http.StatusOK {
		return out, errors.New(answer.Status)
	}
	return delivered{
		answered: true, event: result.CorrelationID, duplicate: answer.Header.Get("Svc-Duplicate") != "",
	}, nil
}

var patient = &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: deliveriesAt}}
