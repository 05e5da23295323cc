package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/config"
	"sluice/serve"
)

// A checkup is one thing that the doctor looked at.
type checkup struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning or bad
	Found string `json:"found"`
	Do    string `json:"do,omitempty"`
}

const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateBad     = "bad"
)

// A doctor looks at a server, first as a stranger, then as its operator.
type doctor struct {
	base   string
	http   *http.Client
	client *client.Client
	found  []checkup
}

func (d *doctor) say(check, state, found, do string) {
	d.found = append(d.found, checkup{check, state, found, do})
}

// judge says that something is well, or else what was found and what to do about it.
func (d *doctor) judge(check string, isWell bool, well, found, do string) {
	if isWell {
		d.say(check, stateOK, well, "")
	} else {
		d.say(check, stateWarning, found, do)
	}
}

func (t *cli) doctor(ctx context.Context) error {
	const timeout = 10 * time.Second
	d := &doctor{base: t.Server.URL(), http: &http.Client{Timeout: timeout}, client: t.Server}
	if d.reach(ctx) {
		d.publicURL(ctx)
		d.operate(ctx)
	}
	d.machine()
	return d.report(t)
}

// report shows what was found, what is bad first.
func (d *doctor) report(t *cli) error {
	var sorted []checkup
	for _, state := range []string{stateBad, stateWarning, stateOK} {
		for _, f := range d.found {
			if f.State == state {
				sorted = append(sorted, f)
			}
		}
	}
	err := t.Present(sorted, func(w io.Writer) {
		for _, f := range sorted {
			fmt.Fprintf(w, "%-8s %s: %s\n", f.State, f.Check, f.Found)
			if f.Do != "" {
				fmt.Fprintf(w, "         → %s\n", f.Do)
			}
		}
	})
	if err == nil && sorted[0].State == stateBad {
		return exit.Errorf(exit.Other, "The server needs attention.")
	}
	return err
}

// reach asks whether calls are welcome, and looks at certificate and clock meanwhile.
func (d *doctor) reach(ctx context.Context) bool {
	response, body, err := fetch(ctx, d.http, d.base+sluice.ReadyPath) //nolint:bodyclose // fetch has closed it
	if err != nil {
		d.say("reachable", stateBad, "No server answers at "+d.base+": "+err.Error()+".", "Start it, and see that the "+
			"name leads to it and that the port is open: firewall, proxy, DNS, certificate.")
		return false
	}
	var ready struct {
		Detail   string   `json:"detail"`
		Warnings []string `json:"warnings"`
	}
	_ = json.Unmarshal(body, &ready) // an answer in another form says nothing
	if response.StatusCode == http.StatusOK {
		d.say("reachable", stateOK, d.base+" takes calls.", "")
	} else {
		d.say("reachable", stateBad, fmt.Sprintf("%s takes no calls: %s %s", d.base, response.Status, ready.Detail),
			"See the server's log, and docs/troubleshooting.md.")
	}
	for _, text := range ready.Warnings {
		d.say("server", stateWarning, text+".", "")
	}
	d.certificate(response)
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		const most = 30 * time.Second
		off := time.Since(date).Round(time.Second).Abs()
		d.judge("clock", off <= most, "The clocks agree.",
			fmt.Sprintf("The server's clock and this machine's differ by %s.", off),
			"Run an NTP client on both: signatures and tokens are refused when clocks differ by minutes.")
	}
	return true
}

// certificate looks at how callers are protected on their way.
func (d *doctor) certificate(response *http.Response) {
	address, _ := url.Parse(d.base)
	if response.TLS == nil {
		if !sluice.IsLoopback(address.Hostname()) {
			d.say("HTTPS", stateBad, "Tokens and passwords can be read on the way: "+d.base+" is plain HTTP.",
				"Start the server with --domain and its name, or put a proxy with TLS in front (docs/install.md).")
		}
		return
	}
	const soon = 14 * 24 * time.Hour
	end := response.TLS.PeerCertificates[0].NotAfter
	d.judge("certificate", time.Until(end) >= soon,
		"The certificate is good until "+end.UTC().Format(time.DateOnly)+".",
		"The certificate ends on "+end.UTC().Format(time.RFC1123)+".",
		"See why it is not renewed; senders refuse to call once it has ended.")
}

// publicURL asks under which name the server hands out URLs.
func (d *doctor) publicURL(ctx context.Context) {
	var document struct {
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
	}
	_, body, err := fetch(ctx, d.http, d.base+sluice.OpenAPIPath) //nolint:bodyclose // fetch has closed it
	if err != nil || json.Unmarshal(body, &document) != nil || len(document.Servers) == 0 {
		return
	}
	says := document.Servers[0].URL
	d.judge("public URL", strings.TrimSuffix(says, "/") == strings.TrimSuffix(d.base, "/"),
		"The server's URLs begin with the one that it was reached by.",
		"The server hands out URLs that begin with "+says+", and was reached as "+d.base+".",
		"Set --public-url to what senders call, or look at it as they do: sluice doctor --url "+says+".")
}

// operate asks what only operators may know.
func (d *doctor) operate(ctx context.Context) {
	var alerts sluice.List[sluice.Alert]
	if err := d.client.Decode(ctx, "alert.get", url.Values{"open": {"true"}}, nil, &alerts); err != nil {
		d.say("operator", stateWarning, "What only operators see was not looked at: "+sluice.AsError(err).Message,
			"Log in as an administrator with sluice login.")
		return
	}
	var me sluice.User // what a role may only read is left out, too: whoami does not tell which commands that is
	_ = d.client.Decode(ctx, "iam.whoami", nil, nil, &me)
	for _, a := range alerts.Items {
		words := a.Kind.Words(a.Subject)
		state := stateWarning
		if a.Severity == sluice.SeverityCritical {
			state = stateBad
		}
		d.say("alert", state, a.Message, words.DoBy(me.May))
	}
	var backups sluice.List[sluice.AuditEntry]
	const often = 7 * 24 * time.Hour
	if d.client.Decode(ctx, "audit.get", url.Values{
		"command": {"server.backup"}, "from": {time.Now().Add(-often).UTC().Format(time.RFC3339)},
	}, nil, &backups) != nil {
		return // who may not see that, as a team, can't have alerts told either
	}
	d.judge("backup", len(backups.Items) > 0, "There was a backup within a week.", "There was no backup within a week.",
		"Let a timer run sluice backup, and keep the file on another machine (docs/backup.md).")
	var pipelines []sluice.PipelineView
	if d.client.Decode(ctx, "pipeline.get", nil, nil, &pipelines) == nil {
		told := slices.ContainsFunc(pipelines, func(p sluice.PipelineView) bool {
			return strings.Contains(p.Listens, sluice.EventPrefix+"sluice.alert.")
		})
		d.judge("alerts", told, "A pipeline passes alerts on.", "Nobody is told when something goes wrong.",
			"sluice alert to slack URL, or teams, webhook or mail.")
	}
}

// machine looks at the server's machine, if this is it.
func (d *doctor) machine() {
	cfg, err := config.Load(os.Getenv("SLUICE_CONFIG"), os.Environ(), nil)
	if err != nil {
		d.say("settings", stateBad, err.Error(), "A server with these settings does not start: correct them.")
		return
	}
	if _, err := os.Stat(cfg.Data); err != nil || cfg.NATS != "" {
		return
	}
	found := serve.Inspect(cfg)
	for _, f := range found {
		d.say("machine", stateWarning, f[0], f[1])
	}
	if len(found) == 0 {
		d.say("machine", stateOK, "Disk, limits, key and proxy are as they should be.", "")
	}
}
