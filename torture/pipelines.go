package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// A kind is what a pipeline makes of the calls of one of the webhooks.
type kind struct {
	name   string // of the pipeline; "" if none listens
	counts bool   // its runs report themselves to the counter
	first  string // sections of the source before its steps
	steps  string // behind those that all have
	fails  bool
	splits bool // its calls bring several events
	often  int  // how often it is called, of all kinds together
}

// kinds are those of the webhooks that are called, in their order. A call of the
// slow one is answered before it is done; the retried one fails twice before.
var kinds = []kind{
	{often: 32},
	{name: "plain", often: 28},
	{name: "counted", counts: true, often: 18},
	{
		name: "retried", first: "retry: {times: 2, backoff: 200ms}\n",
		steps: "  - fail: {message: not yet, statusCode: 503, if: '#{request.attempt < 3}'}\n", often: 6,
	},
	{name: "failing", counts: true, steps: "  - fail: {message: as asked, statusCode: 422}\n", fails: true, often: 8},
	{name: "slow", counts: true, steps: "  - wait: {duration: 500ms}\n", often: 2},
	{splits: true, often: 6},
}

// pick returns the index of a kind, each as often as it says.
func pick(random int) int {
	for i, k := range kinds {
		if random -= k.often; random < 0 {
			return i
		}
	}
	return 0
}

// allKinds is what the kinds' often add up to.
const allKinds = 100

// source returns the pipeline of a kind. Its value is the id of the call and,
// if runs are counted, the number of the run, so that a repeated run has
// another result.
func (k kind) source(eventKey, counter string) string {
	s, value := k.first+fmt.Sprintf("concurrency: 64\npipeline:\n  - event.listen: {eventKey: %s}\n",
		eventKey), "#{body.query.id[0]}"
	if k.counts {
		s += fmt.Sprintf("  - http.request: {url: \"%s/?id=#{request.correlationId}\", output: vars.counted}\n",
			counter)
		value += " in run #{vars.counted.headers.run}"
	}
	return s + k.steps + fmt.Sprintf("  - set: {value: %q}\n", value)
}

// fits reports whether a result is what the call with that id has to come to.
func (k kind) fits(id uint64, r sluice.Result) bool {
	if k.fails {
		return r.Status == sluice.StatusError && r.StatusCode == http.StatusUnprocessableEntity && r.Error != nil
	}
	if k.name == "" {
		_, whole := isWhole(r)
		return r.Status == sluice.StatusOK && whole == k.splits
	}
	var value string
	if json.Unmarshal(r.Value, &value) != nil || r.Status != sluice.StatusOK {
		return false
	}
	number, run, counted := strings.Cut(value, " in run ")
	return number == strconv.FormatUint(id, 10) && counted == k.counts && counted == (run != "")
}

// A digest stands for all that a result says, the zero one for nothing.
type digest [sha256.Size]byte

func digestOf(r sluice.Result) digest {
	r.PollingRedirectEnabled = false // it says how it was asked for
	return sha256.Sum256(r.AppendJSON(nil))
}

// storePipelines stores the pipelines of the webhooks that are called. They run
// as the anonymous user, who may call URLs here.
func storePipelines(ctx context.Context, c *client, called []*hook, counter string) error {
	params := map[string]any{
		"role": sluice.AnonymousRole, "permissions": []string{"set", "fail", "wait", "http.request"},
	}
	if err := c.command(ctx, "iam.role.put", params, new(sluice.Role)); err != nil {
		return err
	}
	for i, k := range kinds {
		if k.name == "" {
			continue
		}
		if err := c.store(ctx, k.name, k.source(called[i].key, counter)); err != nil {
			return err
		}
	}
	return nil
}

// readyWithin is how long a result may take after a start: an event that was
// worked on comes again after some seconds, then it waits for its turn.
const readyWithin = 30 * time.Second
