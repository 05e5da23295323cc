// Package quarantine keeps calls of webhooks that were rejected, for people to
// look at and to let in after all: quarantine.get, .admit and .delete.
//
// Package webhook decides which calls are kept, says why they were rejected, and takes
// those that are let in. Package jetstream stores them, and sees what was sent only
// sealed.
package quarantine

import (
	"cmp"
	"context"
	"encoding/base64"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"sluice"
	"sluice/command"
	"sluice/stretch"
)

// Receiver is the part of a receive.Receiver that the commands need.
type Receiver interface {
	// Show returns a request without its secrets.
	Show(ctx context.Context, c *sluice.QuarantinedCall) (headers map[string]string, query map[string][]string, body []byte)

	// Admit takes in a call. It is checked by what its webhook demands now, or not at
	// all with force. Errors say why it is rejected again.
	Admit(ctx context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error)
}

// Commands returns the commands about rejected calls. seen is called when a user
// sees payloads.
func Commands(k *Keeper, receiver Receiver, seen func(ctx context.Context, command, target string)) []command.Command {
	return []command.Command{getCommand(k, receiver, seen), admitCommand(k, receiver), deleteCommand(k)}
}

const (
	defaultLimit = 100
	// maxShown bounds the bodies that one answer shows, in bytes.
	maxShown = 4 << 20
)

type getParams struct {
	ID       string    `json:"id" names:"listed" doc:"Id of one call."`
	EventKey string    `json:"eventKey" names:"listed" doc:"Only calls of the webhook with this key."`
	Code     string    `json:"code" doc:"Only calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
	Brief    bool      `json:"brief" doc:"Leaves out headers and bodies."`
}

func getCommand(k *Keeper, receiver Receiver, seen func(ctx context.Context, command, target string)) command.Command {
	return command.New("quarantine.get", "Find calls that were refused and are kept, newest first, with a diagnosis; with headers and bodies, secrets masked, for users who may see payloads.",
		func(ctx context.Context, p getParams) (sluice.List[sluice.QuarantineView], error) {
			k.settle(ctx)
			calls, next, err := k.Store.List(ctx, sluice.QuarantineQuery{ID: p.ID, EventKey: p.EventKey, Code: p.Code, From: p.From, To: p.To, Limit: cmp.Or(p.Limit, defaultLimit), After: p.After, Cover: sluice.CoverFrom(ctx)})
			if err != nil {
				return sluice.List[sluice.QuarantineView]{}, err
			}
			out := sluice.List[sluice.QuarantineView]{Items: []sluice.QuarantineView{}, Next: next}
			left, known := maxShown, sluice.UserFrom(ctx).Cover(sluice.MaySeePayload)
			for _, c := range calls {
				maySee := known.Event(c.EventKey)
				item := sluice.QuarantineView{QuarantinedCall: c}
				if !sluice.CoverFrom(ctx).Whole() {
					item.Diagnosis = slices.DeleteFunc(slices.Clone(c.Diagnosis), func(found string) bool { return strings.Contains(found, sluice.OtherWebhook) })
				}
				if !maySee && c.Errors != nil {
					// Names of the payload are in them.
					item.Errors, item.Diagnosis = nil, []string{"The payload does not meet the schema of the webhook; users who may see payloads see where."}
				}
				if !p.Brief && left >= c.Size && maySee {
					left -= c.Size
					there, err := fill(ctx, &item, k, receiver)
					if err != nil {
						return out, err
					}
					if !there {
						continue
					}
					seen(ctx, "quarantine.get", c.ID)
				}
				out.Items = append(out.Items, item)
			}
			return out, nil
		}, command.ReadOnly)
}

// fill adds the request to a call, and reports whether the call is still there.
func fill(ctx context.Context, v *sluice.QuarantineView, k *Keeper, receiver Receiver) (bool, error) {
	there, err := k.Store.Open(ctx, &v.QuarantinedCall)
	if !there || err != nil {
		return false, err
	}
	var body []byte
	v.Method = v.Request.Method
	v.Headers, v.Query, body = receiver.Show(ctx, &v.QuarantinedCall)
	v.Body, v.BodyEncoding = string(body), sluice.EncodingText
	if !utf8.Valid(body) {
		v.Body, v.BodyEncoding = base64.StdEncoding.EncodeToString(body), sluice.EncodingBase64
	}
	return true, nil
}

// Bounds of what waits to be stored, and of how often calls of one webhook are kept: a
// wave of forged calls must not take the server's time, nor the slots of other webhooks.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 32 << 20
	maxOfOne        = maxWaiting / 4
	maxBytesOfOne   = maxWaitingBytes / 2
	keptPerSecond   = 50
	keptAtOnce      = 1000
	diagnosedEach   = 20 // a second, of all
	maxLimits       = 10_000
	storeTimeout    = 5 * time.Second
)

// Options are what a keeper is made of.
type Options struct {
	Store sluice.QuarantineStore
	Log   *slog.Logger

	// Diagnose says, for the operator, why a call was rejected.
	Diagnose func(context.Context, *sluice.QuarantinedCall) []string
}

// A Keeper takes over rejected calls and stores them in the background.
type Keeper struct {
	Options

	waiting  chan *sluice.QuarantinedCall
	stopped  chan struct{}
	diagnose *rate.Limiter
	missed   atomic.Int64 // calls that are not kept

	mu      sync.Mutex
	taken   int                      // calls so far
	handled int                      // how many of them are stored or lost
	moved   chan struct{}            // closed and replaced whenever one is handled
	bytes   int                      // of the calls that wait
	of      map[string]use           // what waits, by token
	limits  map[string]*rate.Limiter // by token
}

type use struct{ calls, bytes int }

// NewKeeper returns a keeper. Nothing is stored until Run runs.
func NewKeeper(o Options) *Keeper {
	return &Keeper{
		Options: o, waiting: make(chan *sluice.QuarantinedCall, maxWaiting), stopped: make(chan struct{}), moved: make(chan struct{}),
		diagnose: rate.NewLimiter(diagnosedEach, 10*diagnosedEach),
		of:       make(map[string]use), limits: make(map[string]*rate.Limiter),
	}
}

// Missed returns how many calls were not kept, since the start: there were too many, or
// they could not be stored.
func (k *Keeper) Missed() int64 { return k.missed.Load() }

// Keep takes over a call of a webhook, if there is room for its bytes. It never waits.
func (k *Keeper) Keep(token string, size int, call func() *sluice.QuarantinedCall) bool {
	if !k.take(token, size) {
		k.missed.Add(1)
		return false
	}
	k.waiting <- call() // there is a slot for it
	return true
}

// take reserves a slot for a call.
func (k *Keeper) take(token string, size int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := k.of[token]
	if k.taken-k.handled >= maxWaiting || used.calls >= maxOfOne || k.bytes+size > maxWaitingBytes || used.bytes+size > maxBytesOfOne {
		return false
	}
	limit := k.limits[token]
	if limit == nil {
		if len(k.limits) >= maxLimits {
			clear(k.limits)
		}
		limit = rate.NewLimiter(keptPerSecond, keptAtOnce)
		k.limits[token] = limit
	}
	if !limit.Allow() {
		return false
	}
	k.taken++
	k.bytes += size
	k.of[token] = use{used.calls + 1, used.bytes + size}
	return true
}

func (k *Keeper) release(token string, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.handled++
	close(k.moved)
	k.moved = make(chan struct{})
	k.bytes -= size
	used := k.of[token]
	if used.calls == 1 {
		delete(k.of, token)
		return
	}
	k.of[token] = use{used.calls - 1, used.bytes - size}
}

// Run stores calls until ctx ends, and then those that still wait, within a time-out.
func (k *Keeper) Run(ctx context.Context) {
	defer close(k.stopped)
	for {
		select {
		case c := <-k.waiting:
			k.handle(context.WithoutCancel(ctx), c)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(storeTimeout))
			defer cancel()
			for {
				select {
				case c := <-k.waiting:
					k.handle(ctx, c)
				default:
					return
				}
			}
		}
	}
}

func (k *Keeper) handle(ctx context.Context, c *sluice.QuarantinedCall) {
	defer k.release(c.Token, c.Size)
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(storeTimeout))
	defer cancel()
	c.Diagnosis = []string{"Too many calls were refused at that moment to look into each of them."}
	if k.diagnose.Allow() {
		c.Diagnosis = k.Diagnose(ctx, c)
	}
	if err := k.Store.Put(ctx, c); err != nil {
		k.missed.Add(1)
		k.Log.Warn("A rejected call could not be kept.", "traceId", c.ID, "error", err)
	}
}

// settle waits until all calls that were kept before are stored, within a time-out.
func (k *Keeper) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(storeTimeout))
	defer cancel()
	k.mu.Lock()
	target := k.taken
	for k.handled < target {
		moved := k.moved
		k.mu.Unlock()
		select {
		case <-moved:
		case <-k.stopped:
			return
		case <-ctx.Done():
			return
		}
		k.mu.Lock()
	}
	k.mu.Unlock()
}
