package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"sluice"
)

// An operation is one step of a walk.
type operation struct {
	name   string
	weight int
	do     func(context.Context, *walk) error
}

// operations are all that a walk can do; a new feature adds its own here, and what must hold
// after them in walk_check.go.
var operations = []operation{
	{"calls", 30, func(ctx context.Context, w *walk) error { w.burst(ctx, 1+w.random.IntN(20)); return nil }},
	{"repeated deliveries", 6, repeatDeliveries},
	{"a recipient's mood", 10, changeMood},
	{"pause or resume", 4, pauseOrResume},
	{"edit a webhook", 3, editWebhook},
	{"store a pipeline anew", 3, storeAnew},
	{"tokens", 3, changeTokens},
	{"erase", 5, eraseCalls},
	{"replay a call", 4, replayCall},
	{"retry", 3, func(ctx context.Context, w *walk) error { return w.may(ctx, "event.retry", map[string]any{}, nil) }},
	{"replay dead letters", 2, func(ctx context.Context, w *walk) error {
		return w.may(ctx, "deadletter.replay", map[string]any{"since": "24h", "rate": 1000}, nil)
	}},
	{"delete a dead letter", 2, deleteLetter},
	{"admit", 1, func(ctx context.Context, w *walk) error {
		return w.may(ctx, "quarantine.admit", map[string]any{"eventKey": "webhook.walk.signed"}, nil)
	}},
	{"edit a role twice at once", 2, editRole},
	{"work", 4, func(ctx context.Context, w *walk) error { return w.doWork(ctx, 4) }},
	{"break connections off", 3, breakOff},
	{"wait", 4, func(ctx context.Context, w *walk) error {
		sleep(ctx, time.Duration(w.random.IntN(1500))*time.Millisecond)
		return nil
	}},
	{"kill", 4, underLoad(func(ctx context.Context, _ *walk, n *walkNode) error { n.kill(); return n.start(ctx) })},
	{"stop", 2, underLoad(func(ctx context.Context, w *walk, n *walkNode) error {
		if err := n.stop(); err != nil {
			w.blamef("%s", err)
			n.kill()
		}
		return n.start(ctx)
	})},
	{"hand over", 2, underLoad(func(_ context.Context, _ *walk, n *walkNode) error { return n.handOver() })},
	{"hand over to a broken one", 1, underLoad(handOverToBroken)},
	{"the clock", 2, setClock},
	{"no descriptors", 1, underLoad(takeDescriptors)},
	{"a full disk", 1, underLoad(fillDisk)},
}

// engineOperations are those of a walk with an external engine besides.
var engineOperations = []operation{{"a server of the engine", 4, underLoad(takeEngine)}}

// may calls a command that a fault may make fail, but never for good.
func (w *walk) may(ctx context.Context, name string, params map[string]any, out any) error {
	var ignored any
	if out == nil {
		out = &ignored
	}
	err := w.insist(ctx, func() error { return w.client().command(ctx, name, params, out) })
	if err != nil && ctx.Err() == nil && !isExpected(err) {
		w.blamef("%s %v: %s", name, params, err)
	}
	return ctx.Err()
}

// insist does something as often as it takes.
func (w *walk) insist(ctx context.Context, do func() error) (err error) {
	for until := time.Now().Add(settleTime); time.Now().Before(until) && ctx.Err() == nil; sleep(ctx,
		100*time.Millisecond) {
		if err = do(); err == nil || !isUnavailable(err) {
			return err
		}
		if failed := w.revive(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// revive starts servers again that have ended by themselves, as a supervisor does. They must have had a reason.
func (w *walk) revive(ctx context.Context) error {
	w.reviving.Lock()
	defer w.reviving.Unlock()
	for _, n := range w.nodes {
		if !n.ended() {
			continue
		}
		if time.Now().After(n.mayEnd) {
			w.blamef("the server has ended by itself: %s", n.server.log.text)
		} else if last := len(w.stuck) - 1; last >= 0 {
			w.stuck[last].to = time.Now()
		}
		w.kills = append(w.kills, time.Now())
		w.faults = append(w.faults, time.Now())
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isUnavailable reports whether an answer asks to come again.
func isUnavailable(err error) bool {
	_, lost := errors.AsType[*url.Error](err)
	text := err.Error()
	return lost || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "503 Service Unavailable") ||
		strings.Contains(text, "429 Too Many Requests")
}

// isExpected reports whether a command was refused for a reason that a walk can't know of.
func isExpected(err error) bool {
	for _, code := range []string{
		"event-waits", "event-unknown", "event-erased", "event-gone", "deadletter-unknown", "letter-unknown", "not-admissible",
		"signature-invalid", "last-token", "lease-over",
	} {
		if strings.Contains(err.Error(), `"`+code+`"`) {
			return true
		}
	}
	return false
}

// burst makes calls of random kinds, some at the same time.
func (w *walk) burst(ctx context.Context, n int) {
	calls := make(chan *walkCall, n)
	for range n {
		calls <- w.newCall(kindsOfWalk[w.random.IntN(len(kindsOfWalk))].name)
	}
	close(calls)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for c := range calls {
				w.make(ctx, c)
			}
		})
	}
	callers.Wait()
}

// underLoad does something to the server while calls come in.
func underLoad(do func(context.Context, *walk, *walkNode) error) func(context.Context, *walk) error {
	return func(ctx context.Context, w *walk) error {
		moment := time.Duration(w.random.IntN(60)) * time.Millisecond
		var load sync.WaitGroup
		calls := make([]*walkCall, 40)
		for i := range calls {
			calls[i] = w.newCall(kindsOfWalk[w.random.IntN(len(kindsOfWalk))].name)
		}
		load.Go(func() {
			for _, c := range calls {
				w.make(ctx, c)
			}
		})
		defer load.Wait()
		sleep(ctx, moment)
		defer func() { w.faults = append(w.faults, time.Now()) }()
		return do(ctx, w, w.nodes[w.random.IntN(len(w.nodes))])
	}
}

func repeatDeliveries(ctx context.Context, w *walk) error {
	var known []*walkCall
	for _, c := range append(append([]*walkCall(nil), w.calls...), w.unknown...) {
		if (c.kind == "deduped" || c.kind == "batched") && !c.erased {
			known = append(known, c)
		}
	}
	for range min(len(known), 5) {
		repeated := *known[w.random.IntN(len(known))]
		w.make(ctx, &repeated)
	}
	return nil
}

func changeMood(_ context.Context, w *walk) error {
	at := []*recipient{w.a, w.b}[w.random.IntN(2)]
	at.set(mood(w.random.IntN(int(moods))))
	return nil
}

func pauseOrResume(ctx context.Context, w *walk) error {
	name := kindsOfWalk[w.random.IntN(len(kindsOfWalk))]
	verb := []string{"pipeline.pause", "pipeline.resume"}[w.random.IntN(2)]
	if name.pipeline == "" {
		return nil
	}
	return w.may(ctx, verb, map[string]any{"name": name.name}, nil)
}

func editWebhook(ctx context.Context, w *walk) error {
	hook := w.hooks[kindsOfWalk[w.random.IntN(len(kindsOfWalk))].name]
	text := fmt.Sprint("edited in step ", w.step)
	var view sluice.WebhookView
	if err := w.may(ctx, "webhook.put", map[string]any{"uuid": hook.uuid, "description": text}, &view); err != nil {
		return err
	}
	// Other nodes know of it within a second, or later on a machine that is busy.
	for until := time.Now().Add(knownElsewhere); ; sleep(ctx, 100*time.Millisecond) {
		if err := w.may(ctx, "webhook.get", map[string]any{"uuid": hook.uuid}, &view); err != nil || view.Description == text {
			return err
		}
		if time.Now().After(until) {
			w.blamef("the description of %s is %q after it was set to %q", hook.kind, view.Description, text)
			return nil
		}
	}
}

// knownElsewhere is within what time a change is known to all nodes, on a busy machine.
const knownElsewhere = 10 * time.Second

func storeAnew(ctx context.Context, w *walk) error {
	kind := kindsOfWalk[w.random.IntN(len(kindsOfWalk))]
	if kind.pipeline == "" {
		return nil
	}
	return w.store(ctx, kind.name, kind.pipeline+fmt.Sprintf("# step %d\n", w.step))
}

// store stores a pipeline.
func (w *walk) store(ctx context.Context, name, source string) error {
	source = strings.NewReplacer("%a", w.a.URL, "%b", w.b.URL).Replace(source)
	return w.insist(ctx, func() error { return w.client().store(ctx, name, source) })
}

func changeTokens(ctx context.Context, w *walk) error {
	hook := w.hooks[kindsOfWalk[w.random.IntN(len(kindsOfWalk))].name]
	if len(hook.tokens) < 4 {
		var added struct {
			Token string `json:"token"`
		}
		err := w.may(ctx, "webhook.token.add", map[string]any{"uuid": hook.uuid}, &added)
		if err == nil && added.Token != "" {
			hook.tokens = append(hook.tokens, added.Token)
		}
		return err
	}
	last := hook.tokens[len(hook.tokens)-1]
	hook.tokens = hook.tokens[:len(hook.tokens)-1]
	w.closed = append(w.closed, last)
	return w.may(ctx, "webhook.token.delete", map[string]any{"uuid": hook.uuid, "token": last}, nil)
}

// eraseCalls erases one or two calls, some of them twice, by their trace ids or their text.
func eraseCalls(ctx context.Context, w *walk) error {
	if len(w.calls) == 0 {
		return nil
	}
	for range 1 + w.random.IntN(2) {
		c := w.calls[w.random.IntN(len(w.calls))]
		params := map[string]any{"traceId": c.traceID, "force": true}
		if w.random.IntN(3) == 0 && c.kind != "decoded" && len(c.items) == 0 {
			params = map[string]any{"eventKey": w.hooks[c.kind].eventKey, "search": c.mark, "force": true}
		}
		times := 1 + w.random.IntN(2)
		c.erased, c.erasing.from = true, time.Now()
		for range times {
			var erased sluice.Erased
			if err := w.may(ctx, "event.erase", params, &erased); err != nil {
				return err
			}
		}
		c.erasing.to = time.Now()
	}
	return nil
}

func replayCall(ctx context.Context, w *walk) error {
	if len(w.calls) == 0 {
		return nil
	}
	c := w.calls[w.random.IntN(len(w.calls))]
	if len(c.items) > 0 { // each of its events is replayed by itself
		return nil
	}
	return w.may(ctx, "event.replay", map[string]any{"traceId": c.traceID}, nil)
}

func deleteLetter(ctx context.Context, w *walk) error {
	var letters sluice.List[sluice.DeadLetter]
	if err := w.may(ctx, "deadletter.get", map[string]any{"limit": 10}, &letters); err != nil ||
		len(letters.Items) == 0 {
		return err
	}
	letter := letters.Items[w.random.IntN(len(letters.Items))]
	w.letters[letter.TraceID] = true
	return w.may(ctx, "deadletter.delete", map[string]any{"letter": letter.Letter}, nil)
}

// editRole takes a permission of a role away while somebody else gives the role a scope.
func editRole(ctx context.Context, w *walk) error {
	role := fmt.Sprint("walkers-", w.step)
	w.roles = append(w.roles, role)
	whole := map[string]any{"role": role, "permissions": []string{"webhook.get", "webhook.put"}}
	if err := w.may(ctx, "iam.role.put", whole, nil); err != nil {
		return err
	}
	var edits sync.WaitGroup
	for _, edit := range []map[string]any{
		{"role": role, "permissions": []string{"webhook.get"}}, {"role": role, "scope": []string{"walk"}},
	} {
		edits.Go(func() { _ = w.may(ctx, "iam.role.put", edit, nil) })
	}
	edits.Wait()
	const most = 20
	if len(w.roles) <= most {
		return nil
	}
	oldest := w.roles[0]
	w.roles = w.roles[1:]
	return w.may(ctx, "iam.role.delete", map[string]any{"role": oldest}, nil)
}

// doWork does the work that waits. One item in so many is put off, or left to be offered again.
func (w *walk) doWork(ctx context.Context, share int) error {
	const patient = 30 * time.Second
	for ctx.Err() == nil {
		lease := patient
		if share > 1 {
			lease = time.Second
		}
		var taken struct{ Items []sluice.WorkItem }
		if err := w.may(ctx, "work.take", map[string]any{"queue": "walk", "limit": 10, "lease": lease.String()},
			&taken); err != nil || len(taken.Items) == 0 {
			return err
		}
		for _, item := range taken.Items {
			switch choice := w.random.IntN(2 * share); {
			case share > 1 && choice == 0: // nobody does it
			case share > 1 && choice == 1:
				put := map[string]any{"lease": item.Lease, "statusCode": 503, "message": "later", "retryAfter": "1s"}
				if err := w.may(ctx, "work.fail", put, nil); err != nil {
					return err
				}
			default:
				var mark string
				if err := json.Unmarshal(item.Input, &mark); err != nil {
					w.blamef("work has the input %s: %s", item.Input, err)
				}
				done := map[string]any{"lease": item.Lease, "value": seen(mark)}
				if err := w.may(ctx, "work.done", done, nil); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

func handOverToBroken(ctx context.Context, w *walk, n *walkNode) error {
	goesOn, err := n.handOverToBroken(ctx)
	if err == nil && !goesOn && time.Now().After(n.mayEnd) {
		w.blamef("a hand-over to a program that ends at once took the server along: %s", n.server.log.text)
		n.kill()
		return n.start(ctx)
	}
	return err
}

// setClock sets the clock of a server ahead or back by minutes, or right.
func setClock(_ context.Context, w *walk) error {
	return w.nodes[w.random.IntN(len(w.nodes))].setClock(time.Duration(w.random.IntN(3)-1) * 7 * time.Minute)
}

// electsWithin is how long each stream may take to find its leader after a server is back.
const electsWithin = 10 * time.Second

// takeEngine kills one server of an external engine for a while, or lets it hang.
func takeEngine(ctx context.Context, w *walk, _ *walkNode) error {
	s := w.engine.servers[w.random.IntN(len(w.engine.servers))]
	long := time.Duration(500+w.random.IntN(6000)) * time.Millisecond
	from := time.Now()
	w.faults = append(w.faults, from)
	w.mu.Lock() // calls come in
	w.away = append(w.away, period{from, from.Add(time.Hour)})
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.away[len(w.away)-1].to = time.Now().Add(electsWithin)
	}()
	if w.random.IntN(2) == 0 {
		s.process.signal(syscall.SIGSTOP)
		sleep(ctx, long)
		s.process.signal(syscall.SIGCONT)
		return w.engine.caughtUp(ctx)
	}
	s.process.kill()
	sleep(ctx, long)
	return errors.Join(w.engine.startServer(ctx, s), w.engine.caughtUp(ctx))
}

// isClosed reports whether calls with a token are refused as those with an unknown one.
func (w *walk) isClosed(ctx context.Context, token string) (bool, error) {
	at := w.client()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.url+receivePath, nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Token", token)
	answer, err := at.http.Do(r)
	if err != nil {
		return false, err
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusTooManyRequests, nil
}
