package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
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

// A place is where a server is besieged.
type place struct {
	name   string
	memory int64
	secure bool // it serves HTTPS, and so HTTP/2
}

var places = []place{
	{name: "512MiB", memory: 512 << 20},
	{name: "256MiB", memory: 256 << 20},
	{name: "512MiB-tls", memory: 512 << 20, secure: true},
	{name: "256MiB-tls", memory: 256 << 20, secure: true},
}

// unbounded are the settings of the negative control: nothing is bounded by
// memory.
var unbounded = []string{
	"memory-limit=1024GiB", "max-body-memory=1024GiB", "max-run-memory=1024GiB", "max-in-flight=1000000",
}

// siege attacks a server in every way that strangers and users have to take its
// memory or its time from others.
var siege = mode{
	name:    "siege",
	summary: "take memory and time from a server in 512 and 256 MiB, with TLS and without (root, Linux)",
	run: func(ctx context.Context, s settings) error {
		if isInMemory(s.dir) {
			return fmt.Errorf("%s is in memory: what a server stores there counts as its memory; give -dir on a disk", s.dir)
		}
		var failed error
		chosen := strings.Split(s.faults, ",")
		for _, p := range places {
			if ctx.Err() == nil && (s.faults == "" || slices.Contains(chosen, p.name)) {
				failed = errors.Join(failed, p.besieged(ctx, s))
			}
		}
		return failed
	},
}

// besieged besieges servers in a place: the shipped one, and those of the negative controls.
// Attacks on what no setting unbinds have a bare server for that.
func (p place) besieged(ctx context.Context, s settings) error {
	g, err := newGroup(p.memory)
	if err != nil {
		fmt.Println("siege: SKIPPED:", err)
		return nil
	}
	defer g.remove()
	wanted := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool {
		return !strings.Contains(a.name, s.attack) || a.secure && !p.secure
	})
	all, err := p.besiege(ctx, s, g, nil, wanted)
	var bare, last []attack
	for _, a := range wanted {
		if a.bare {
			bare = append(bare, a)
		}
		if a.name == everythingAtOnce {
			last = append(last, a)
		}
	}
	for _, control := range []struct {
		flags   []string
		attacks []attack
	}{{unbounded, last}, {[]string{barePart}, bare}} {
		if err != nil || !s.negative {
			break
		}
		var fell []outcome
		fell, err = p.besiege(ctx, s, g, control.flags, control.attacks)
		for _, o := range fell {
			o.name, o.mustFail = "negative control, "+o.name, true
			all = append(all, o)
		}
	}
	return errors.Join(err, printSiege(p, all))
}

// besiege starts a server in a group and attacks it in one way after the other.
// A server that does not survive is started again.
func (p place) besiege(
	ctx context.Context, s settings, g *group, flags []string, attacks []attack,
) (outcomes []outcome, err error) {
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
			if t, err = p.newTarget(ctx, filepath.Join(dir, strconv.Itoa(i)), g, flags); err != nil {
				return outcomes, err
			}
		}
		longest := s.longest
		o := t.suffer(ctx, longest, a)
		// others use this machine as well
		for tries := 1; tries < 4 && !slices.Contains(flags, barePart) && (o.slow() || o.harmless() ||
			o.unanswered()); tries++ {
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
	flags := map[string]string{"data": data, "listen": "127.0.0.1:0"}
	for _, option := range options[1:] {
		name, value, ok := strings.Cut(option, "=")
		if !ok {
			return runBare(flags)
		}
		flags[name] = value
	}
	cfg, err := config.Load("", nil, flags)
	if err != nil {
		return err
	}
	log, flush := serve.NewLog(os.Stderr, "info", "auto")
	defer flush()
	return serve.Run(ctx, cfg, serve.Options{
		AdminPassword: adminPassword, Log: log, Timeouts: serve.Timeouts{Write: writeTimeout},
	}, os.Stdout)
}

// A target is a server under attack, with what good callers and attackers need.
type target struct {
	server *server
	client *client
	good   string // tokens of webhooks
	bodies string // one whose calls start a pipeline
	values string // likewise, and are decoded

	checked [4]string // those that look into bodies first
	schemas []string  // those that compare much, one for each of costlyChecks
	hangs   string    // one whose sender's keys never come

	large string // correlation id of a large result
	aside string // address of the listener for metrics
}

// newTarget starts a server in a group.
func (p place) newTarget(ctx context.Context, dir string, g *group, flags []string) (*target, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	aside := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := []string{besiegedPart, dir, g.path, "metrics-listen=" + aside, "http-allow=127.0.0.0/8"}
	if p.secure {
		certificate, key, err := selfSigned(dir + ".tls")
		if err != nil {
			return nil, err
		}
		args = append(args, "tls-cert="+certificate, "tls-key="+key)
	}
	s, err := launchPart(append(args, flags...)...)
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
	t := &target{server: s, client: newClient(url, 100), aside: aside}
	t.client.http.Transport.(*http.Transport).TLSClientConfig = anybody
	if slices.Contains(flags, barePart) {
		for i := range costlyChecks {
			t.schemas = append(t.schemas, strconv.Itoa(i))
		}
		return t, nil
	}
	if err := t.prepare(ctx); err != nil {
		s.kill()
		return nil, err
	}
	return t, nil
}

// A besiegedHook is a webhook, and where its token is kept.
type besiegedHook struct {
	token   *string
	demands map[string]any
}

// hooks returns the webhooks of a siege, by their event keys.
func (t *target) hooks() map[string]besiegedHook {
	hooks := map[string]besiegedHook{
		"webhook.good":   {token: &t.good},
		"webhook.bodies": {token: &t.bodies},
		"webhook.values": {&t.values, map[string]any{"payloadType": "raw"}},
		"webhook.list":   {&t.checked[0], map[string]any{"schema": `{"type":"array"}`}},
		"webhook.map":    {&t.checked[1], map[string]any{"schema": `{"additionalProperties":{"items":{"type":"string"}}}`}},
		"webhook.sns":    {&t.checked[2], map[string]any{"provider": "aws-sns"}},
		"webhook.missed": {new(string), map[string]any{
			"provider": "gitlab", "signingSecret": "token", "apiSecret": "token",
			"apiUrl": swollenAPI().URL + "/api/v4/projects/7/hooks/1",
		}},
		"webhook.hangs": {&t.hangs, map[string]any{"signature": map[string]any{
			"algorithm": "jwt", "header": "Authorization", "keys": hangingKeys(),
		}}},
		"webhook.graph": {&t.checked[3], map[string]any{"provider": "microsoft-graph", "signingSecret": "state"}},
	}
	t.schemas = make([]string, len(costlyChecks))
	for i, c := range costlyChecks {
		hooks["webhook.costly"+strconv.Itoa(i)] = besiegedHook{&t.schemas[i], map[string]any{"schema": c.schema}}
	}
	return hooks
}

// prepare makes the webhooks and pipelines of a siege.
func (t *target) prepare(ctx context.Context) error {
	for waited := time.Now(); ; sleep(ctx, 10*pause) {
		if answer, err := t.client.http.Get(t.client.url + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Since(waited) > startWithin || ctx.Err() != nil {
			return errors.New("the server is not ready in time")
		}
	}
	for key, hook := range t.hooks() {
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
	if err := t.client.store(ctx, "values",
		"pipeline: [event.listen: {eventKey: webhook.values}, set: {value: '#{len(body.payload)}'}]"); err != nil {
		return err
	}
	for name, source := range map[string]string{
		"bodies": "pipeline: [event.listen: {eventKey: webhook.bodies}, set: {value: '#{len(body.payload.origin)}'}]",
		"large": "pipeline: [event.listen: {eventKey: webhook.good}, if: {true: '#{body.query.large != nil}', " +
			"then: [set: {value: '#{repeat(\"x\", 3900000)}'}], else: [set: {value: 1}]}]",
	} {
		if err := t.client.store(ctx, name, source); err != nil {
			return err
		}
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
