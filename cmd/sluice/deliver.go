package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/wait"
)

// A listener delivers events.
type listener struct {
	*cli

	forwarder *client.Forwarder // nil means that events are printed
	waiting   bool              // people know that the program can't be reached
}

// delivered is what the output shows of an event.
type delivered struct {
	Time     time.Time `json:"time"`
	EventKey string    `json:"eventKey"`
	TraceID  string    `json:"traceId"`
	Method   string    `json:"method"`
	Status   int       `json:"status"`
	Duration float64   `json:"duration"` // in milliseconds
	Error    string    `json:"error,omitempty"`
}

// deliver delivers one event. It tries again while the program can't be reached, but
// never sends twice what may have arrived.
func (l *listener) deliver(ctx context.Context, e client.Received) error {
	switch {
	case l.forwarder == nil && l.ForPeople():
		return l.printEvent(e)
	case l.forwarder == nil:
		return l.writeLine(e.Document)
	}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		began := time.Now()
		done := l.forwarder.Forward(ctx, e.Event)
		if done.Done {
			l.waiting = false
			return l.report(e, done, began)
		}
		if !l.waiting && ctx.Err() == nil {
			l.waiting = true
			l.Sayf("The program can't be reached (%v); its events wait.", done.Err)
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// printEvent shows an event to people.
func (l *listener) printEvent(e client.Received) error {
	root, err := view.Parse(e.Document)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.Out, "%s  %s  %s  %s\n", e.ReceivedAt.Local().Format(time.TimeOnly), view.Printable(e.TraceID),
		l.Paint(view.Bold, e.EventKey), view.Printable(e.Method))
	if payload := view.Field(root, "payload"); payload != nil {
		view.WriteIndented(l.Out, payload, "  ")
	}
	return nil
}

func (l *listener) report(e client.Received, done client.Forwarded, began time.Time) error {
	took := time.Since(began)
	d := delivered{
		Time: began.UTC(), EventKey: e.EventKey, TraceID: e.TraceID, Method: e.Method,
		Status: done.Status, Duration: float64(took.Microseconds()) / 1000,
	}
	if done.Err != nil {
		d.Error = done.Err.Error()
	}
	if !l.ForPeople() {
		return l.writeLine(d)
	}
	colour, status := view.Green, strconv.Itoa(done.Status)
	if done.Status == 0 || done.Status >= http.StatusBadRequest {
		colour = view.Red
	}
	if done.Status == 0 {
		status = d.Error
	}
	_, err := fmt.Fprintf(l.Out, "%s  %s  %s  %s  %s  %s\n", began.Format(time.TimeOnly), view.Printable(e.TraceID),
		view.Printable(e.EventKey), view.Printable(e.Method),
		l.Paint(colour, status), view.Milliseconds(d.Duration))
	return err
}
