package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

func replayCommand(t *terminal) *cobra.Command {
	var params *parameters
	cmd := &cobra.Command{
		Use:   "replay [TRACEID]",
		Short: "Send stored events again",
		Long: "Send stored events again, under new trace ids: that of one call, or those that flags select in a\n" +
			"span of time, however many they are. Interrupted, it says how to go on.",
		Example: "  sluice replay 4a5575:mwhgm5pn41onykmb\n  sluice replay --event-key webhook.lead.created --since 1h --pipeline leads --rate 10",
		Args:    arguments(0, 1, "one trace id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := params.values()
			switch {
			case err != nil:
				return err
			case len(args) == 1 && (values.Has("eventKey") || params.when.given()):
				return usage("Give a trace id, or a span of time and flags that select; not both.")
			case len(args) == 1:
				values.Set("traceId", args[0])
			case !values.Has("from"):
				return usage("Give a trace id, or a span of time: --since or --from, and perhaps --event-key.")
			case !values.Has("to"):
				values.Set("to", time.Now().UTC().Format(time.RFC3339Nano))
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return t.replayAll(cmd.Context(), c, values)
			}
			answer, err := c.Command(cmd.Context(), "event.replay", values, nil)
			if err != nil {
				return err
			}
			return t.show(answer.Body)
		},
	}
	params = t.declare(cmd, "event.replay", "traceId")
	return cmd
}

// A pastCall is what is kept of a call whose event is to be sent again: there may be
// very many.
type pastCall struct {
	traceID string
	time    time.Time
}

// replayAll sends the events of a span of time again, however many they are: it
// finds them first, and names some with each request, so that people see how far
// it is.
func (t *terminal) replayAll(ctx context.Context, c *client.Client, params url.Values) error {
	calls, err := t.callsToReplay(ctx, c, params)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		return sluice.Errorf(sluice.CodeEventUnknown, "No stored event matches; sluice trace finds those there are.")
	}
	bar := t.progress(len(calls), "replaying")
	defer bar.end()
	perSecond, _ := strconv.Atoi(cmp.Or(params.Get("rate"), "50")) // the server refuses what is no number
	var all replayed
	var unheard error
	for some := range slices.Chunk(calls, min(max(1, 2*perSecond), 1000)) {
		done, err := replaySome(ctx, c, some, params)
		if sluice.CodePipelineNotListening.Is(err) {
			unheard, err = err, nil // others may be heard
		}
		if err != nil {
			bar.end()
			if all.Replayed > 0 {
				t.note(fmt.Sprintf("%d of %s: replayed. To go on: --from %s; the events of the last 2 seconds may come twice.",
					all.Replayed, counted(len(calls), "event"), some[0].time.UTC().Format(time.RFC3339Nano)))
			}
			return err
		}
		all.Replayed, all.Items = all.Replayed+done.Replayed, append(all.Items, done.Items...)
		bar.steps(len(some))
	}
	bar.end()
	if all.Replayed == 0 && unheard != nil {
		return unheard
	}
	return t.report(all, "%s: replayed", counted(all.Replayed, "event"))
}

// replayed is what a replay answers.
type replayed struct {
	Replayed int               `json:"replayed"`
	Items    []json.RawMessage `json:"items"`
}

// replaySome sends the events of some calls again. Those that are not kept any more
// are left out.
func replaySome(ctx context.Context, c *client.Client, calls []pastCall, params url.Values) (done replayed, err error) {
	ids := make([]string, len(calls))
	for i, call := range calls {
		ids[i] = call.traceID
	}
	named := url.Values{"traceId": {strings.Join(ids, ",")}}
	for _, name := range []string{"pipeline", "rate"} {
		if params.Has(name) {
			named.Set(name, params.Get(name))
		}
	}
	answer, err := c.Command(ctx, "event.replay", named, nil)
	if err != nil {
		if sluice.CodeEventUnknown.Is(err) {
			err = nil
		}
		return done, err
	}
	return done, json.Unmarshal(answer.Body, &done)
}

// callsToReplay finds the calls whose events are to be sent again, oldest first.
func (t *terminal) callsToReplay(ctx context.Context, c *client.Client, params url.Values) ([]pastCall, error) {
	by := url.Values{"limit": {"1000"}}
	for _, name := range []string{"eventKey", "status", "code", "from", "to"} {
		if params.Has(name) {
			by.Set(name, params.Get(name))
		}
	}
	bar := t.progress(-1, "finding the events")
	defer bar.end()
	var calls []pastCall
	for {
		answer, err := c.Command(ctx, "trace.get", by, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []sluice.Call `json:"items"`
			Next  string        `json:"next"`
		}
		if err := json.Unmarshal(answer.Body, &page); err != nil {
			return nil, err
		}
		for _, call := range page.Items {
			isEvent := call.EventKey != "" && call.Status != sluice.StatusRejected
			if isEvent && call.Replays(params.Get("pipeline"), sluice.Status(params.Get("status")), params.Get("code")) {
				calls = append(calls, pastCall{call.TraceID, call.Time})
			}
		}
		if page.Next == "" {
			slices.Reverse(calls)
			return calls, nil
		}
		by.Set("after", page.Next)
	}
}
