package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

func listenCommand(t *terminal) *cobra.Command {
	var forward string
	var anew bool
	cmd := &cobra.Command{
		Use:   "listen EVENTKEY",
		Short: "Deliver events to a program on this machine",
		Long: "Deliver events to a program on this machine, as the calls that they were: with their method,\n" +
			"headers and body, without their secrets. Without --forward the events are printed.\n\n" +
			"The first time it begins with events from then on. How far it came is kept: after a broken\n" +
			"connection and when it is started again, it goes on behind the last event it delivered. Events\n" +
			"wait while the program can't be reached. EVENTKEY may be a pattern: * stands for one group, # at\n" +
			"the end for any number of groups.",
		Example:           "  sluice listen webhook.lead.created --forward http://localhost:3000/hook",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: t.completeNames("webhook.get", "eventKey", noFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.listen(cmd.Context(), args[0], forward, anew)
		},
	}
	cmd.Flags().StringVar(&forward, "forward", "", "URL to deliver events to, such as http://localhost:3000/hook")
	cmd.Flags().BoolVar(&anew, "new", false, "begin with events from now on, wherever it came before")
	return cmd
}

func (t *terminal) listen(ctx context.Context, pattern, forward string, anew bool) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	l := &listener{terminal: t, table: form == "table"}
	if forward != "" {
		if l.forwarder, err = client.NewForwarder(forward); err != nil {
			return err
		}
	}
	profiles, err := t.profiles()
	if err != nil {
		return err
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	place := client.Place{URL: c.URL(), Pattern: pattern, Forward: forward}
	if !anew {
		if place, err = profiles.Resume(place); err != nil {
			return err
		}
	}
	if place.After == "" {
		if _, place.After, err = c.Events(ctx, pattern, "", 1, 0); err != nil {
			return err
		}
		if err := profiles.Keep(place); err != nil {
			return err
		}
		fmt.Fprintf(t.err, "Waiting for events of %s.\n", pattern)
	} else {
		fmt.Fprintf(t.err, "Going on with events of %s where it ended; --new begins anew.\n", pattern)
	}
	err = c.Listen(ctx, pattern, place.After, l.deliver, func(cursor string) error {
		place.After = cursor
		return profiles.Keep(place)
	})
	if sluice.AsError(err).Code == "cursor-gone" {
		return sluice.Errorf(sluice.Gone, "cursor-gone", "The server no longer has the place where this ended; begin anew with --new.")
	}
	return err
}

// A listener delivers events.
type listener struct {
	*terminal

	forwarder *client.Forwarder // nil: they are printed
	table     bool              // for people
	waiting   bool              // it was said that the program can't be reached
}

// delivered is what is told of an event.
type delivered struct {
	Time     time.Time `json:"time"`
	EventKey string    `json:"eventKey"`
	TraceID  string    `json:"traceId"`
	Method   string    `json:"method"`
	Status   int       `json:"status"`
	Duration float64   `json:"duration"` // in milliseconds
	Error    string    `json:"error,omitempty"`
}

// deliver delivers one event. It tries on while the program can't be reached,
// but what may have arrived is not sent twice.
func (l *listener) deliver(ctx context.Context, e client.Received) error {
	if l.forwarder == nil {
		return l.line(e.Document)
	}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		began := time.Now()
		done := l.forwarder.Forward(ctx, e.Event)
		if done.Done {
			l.waiting = false
			return l.tell(e, done, began)
		}
		if !l.waiting && ctx.Err() == nil {
			l.waiting = true
			fmt.Fprintf(l.err, "The program can't be reached (%s); its events wait.\n", printable(done.Err.Error()))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (l *listener) tell(e client.Received, done client.Forwarded, began time.Time) error {
	took := time.Since(began)
	d := delivered{
		Time: began.UTC(), EventKey: e.EventKey, TraceID: e.TraceID, Method: e.Method,
		Status: done.Status, Duration: float64(took.Microseconds()) / 1000,
	}
	if done.Err != nil {
		d.Error = done.Err.Error()
	}
	if !l.table {
		return l.line(d)
	}
	colour, status := green, strconv.Itoa(done.Status)
	if done.Status == 0 || done.Status >= http.StatusBadRequest {
		colour = red
	}
	if done.Status == 0 {
		status = d.Error
	}
	_, err := fmt.Fprintf(l.out, "%s  %s  %s  %s  %s  %.1fms\n", began.Format(time.TimeOnly), printable(e.TraceID),
		printable(e.EventKey), printable(e.Method), paint(colours(l.out), colour, printable(status)), d.Duration)
	return err
}
