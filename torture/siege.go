package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/config"
	"sluice/serve"
)

// besiegedPart is the server of a siege: as it is shipped, in a group of its own
// that has little memory.
const besiegedPart = "besieged"

// besiegedMemory is what that group has.
const besiegedMemory = 512 << 20

// unbounded are the settings of the negative control: nothing is bounded by
// memory.
var unbounded = []string{"memory-limit=1024GiB", "max-body-memory=1024GiB", "max-run-memory=1024GiB", "max-in-flight=1000000"}

// siege attacks a server in every way that strangers and users have to take its
// memory or its time from others.
var siege = mode{
	name:    "siege",
	summary: "take memory and time from a server in 512 MiB (root, Linux)",
	run:     runSiege,
}

func runSiege(ctx context.Context, s settings) error {
	g, err := newGroup(besiegedMemory)
	if err != nil {
		fmt.Println("siege: SKIPPED:", err)
		return nil
	}
	defer g.remove()
	var all []outcome
	wanted := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool { return !strings.Contains(a.name, s.attack) })
	bounded, err := besiege(ctx, s, g, nil, wanted)
	all = append(all, bounded...)
	if err == nil && s.negative {
		var control []outcome
		control, err = besiege(ctx, s, g, unbounded, []attack{attacks[len(attacks)-1]})
		for _, o := range control {
			o.name, o.mustFail = "negative control", true
			all = append(all, o)
		}
	}
	return errors.Join(err, printSiege(all))
}

// besiege starts a server in a group and attacks it in one way after the other.
// A server that does not survive is started again.
func besiege(ctx context.Context, s settings, g *group, flags []string, attacks []attack) (outcomes []outcome, err error) {
	dir, err := os.MkdirTemp(s.dir, "siege-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var t *target
	defer func() {
		if t != nil {
			t.server.kill()
		}
	}()
	for i, a := range attacks {
		if a.alone && t != nil {
			t.server.kill()
			t = nil
		}
		if t == nil {
			if t, err = newTarget(ctx, filepath.Join(dir, strconv.Itoa(i)), g, flags); err != nil {
				return outcomes, err
			}
		}
		longest := s.longest
		o := t.suffer(ctx, longest, a)
		for tries := 1; tries < 4 && (o.slow() || o.harmless() || o.unanswered()); tries++ { // others use this machine as well
			longest *= 2
			o = t.suffer(ctx, longest, a)
		}
		outcomes = append(outcomes, o)
		if ctx.Err() != nil {
			return outcomes, ctx.Err()
		}
		if !o.survived {
			t.server.kill()
			t = nil
		}
	}
	return outcomes, nil
}

// runBesieged is the process of a server that is attacked.
func runBesieged(ctx context.Context, data string, options []string) error {
	endWithParent()
	// It begins once it is in its group.
	if err := awaitGroup(options[0]); err != nil {
		return err
	}
	flags := map[string]string{"data": data, "listen": "127.0.0.1:0", "write-timeout": writeTimeout.String()}
	for _, option := range options[1:] {
		name, value, _ := strings.Cut(option, "=")
		flags[name] = value
	}
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	return serve.Run(ctx, cfg, serve.Options{AdminPassword: adminPassword, Log: log}, os.Stdout)
}

// A target is a server under attack, with what good callers and attackers need.
type target struct {
	server *server
	client *client
	good   string // tokens of webhooks
	bodies string // one whose calls start a pipeline
	values string // likewise, and are decoded

	checked [4]string // those that look into bodies first

	large string // correlation id of a large result
}

// newTarget starts a server in a group.
func newTarget(ctx context.Context, dir string, g *group, flags []string) (*target, error) {
	s, err := launchPart(append([]string{besiegedPart, dir, g.path}, flags...)...)
	if err != nil {
		return nil, err
	}
	if err := g.add(s.cmd.Process.Pid); err != nil {
		s.kill()
		return nil, err
	}
	line, err := s.ready(ctx)
	if err != nil {
		s.kill()
		return nil, err
	}
	// sluice 0.2.0 listens on http://127.0.0.1:8080 (engine: embedded)
	_, rest, _ := strings.Cut(line, "listens on ")
	url, _, _ := strings.Cut(rest, " ")
	go func() { _, _ = io.Copy(io.Discard, s.out) }()
	t := &target{server: s, client: newClient(url, 100)}
	if err := t.prepare(ctx); err != nil {
		s.kill()
		return nil, err
	}
	return t, nil
}

// prepare makes the webhooks and pipelines of a siege.
func (t *target) prepare(ctx context.Context) error {
	for waited := time.Now(); ; sleep(ctx, 10*pause) {
		if answer, err := http.Get(t.client.url + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Since(waited) > startWithin || ctx.Err() != nil {
			return errors.New("the server is not ready in time")
		}
	}
	for key, hook := range map[string]struct {
		token   *string
		demands map[string]any
	}{
		"webhook.good":   {token: &t.good},
		"webhook.bodies": {token: &t.bodies},
		"webhook.values": {&t.values, map[string]any{"payloadType": "raw"}},
		"webhook.list":   {&t.checked[0], map[string]any{"schema": `{"type":"array"}`}},
		"webhook.map":    {&t.checked[1], map[string]any{"schema": `{"additionalProperties":{"items":{"type":"string"}}}`}},
		"webhook.sns":    {&t.checked[2], map[string]any{"provider": "aws-sns"}},
		"webhook.graph":  {&t.checked[3], map[string]any{"provider": "microsoft-graph", "signingSecret": "state"}},
	} {
		var made struct {
			UUID string `json:"uuid"`
		}
		params := map[string]any{"eventKey": key, "maxPayloadLength": sluice.MaxPayloadLength}
		maps.Copy(params, hook.demands)
		if err := t.client.command(ctx, "webhook.put", params, &made); err != nil {
			return err
		}
		*hook.token = made.UUID
	}
	if err := t.client.store(ctx, "values", "pipeline: [event.listen: {eventKey: webhook.values}, set: {value: '#{len(body.payload)}'}]"); err != nil {
		return err
	}
	if err := t.client.store(ctx, "bodies", "pipeline: [event.listen: {eventKey: webhook.bodies}, set: {value: '#{len(body.payload.origin)}'}]"); err != nil {
		return err
	}
	if err := t.client.store(ctx, "large", "pipeline: [event.listen: {eventKey: webhook.good}, if: {true: '#{body.query.large != nil}', then: [set: {value: '#{repeat(\"x\", 3900000)}'}], else: [set: {value: 1}]}]"); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.url+receivePath+"?large=1", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Token", t.good)
	answer, err := t.client.http.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	t.large = answer.Header.Get("Svc-Result-Correlationid")
	_, err = t.client.result(ctx, t.large)
	return err
}
