// Package event has the commands about events and messages: listen, get,
// receive, send and replay. Package jetstream stores the events; package
// pipeline starts the pipelines that listen.
package event

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// Options are what the commands need.
type Options struct {
	Events     sluice.Events
	Stored     sluice.StoredEvents
	Log        sluice.EventLog
	Journal    sluice.Journal
	Waiting    sluice.WaitingEvents
	Quarantine sluice.QuarantineStore
	Erasures   sluice.Erasures
	Note       func(context.Context, sluice.AuditEntry) // enters something in the audit log
	Namespace  string
	Seen       func(ctx context.Context, command, target string) // called when a user sees payloads
	Stopping   <-chan struct{}                                   // closed when the server begins to stop, which ends all waiting
}

// Commands returns the commands about events and messages.
func Commands(o Options) []command.Command {
	return []command.Command{
		getCommand(o),
		listenCommand(),
		receiveCommand(o),
		sendCommand(o.Events, o.Namespace),
		replayCommand(o.Events, o.Journal),
		retryCommand(o.Waiting),
		eraseCommand(o),
		erasuresCommand(o),
		messageReceiveCommand(),
		messageSendCommand(o.Events, o.Namespace),
	}
}

func checkKey(parameter, key string) error {
	if sluice.ValidKey(key) {
		return nil
	}
	return sluice.InvalidParameter(parameter, "The parameter %s must be %s.", parameter, sluice.KeyRule)
}

type listenParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

// listenCommand declares what starts a pipeline. As its first step it is never run:
// the event is already the body.
func listenCommand() command.Command {
	return command.New("event.listen", "Start the pipeline with each event of that key; the event is the body.",
		func(context.Context, listenParams) (any, error) { return nil, startsPipelines("event.listen") }, command.Trigger)
}

type messageReceiveParams struct {
	Key string `json:"key" required:"true" names:"new message" doc:"Key of the messages, such as svc.event.webhook.lead.created; * stands for one group, # at the end for any number of groups."`
}

func messageReceiveCommand() command.Command {
	return command.New("message.receive", "Start the pipeline with each message of that key; the message is the body. Events have the key svc.event. followed by their own.",
		func(context.Context, messageReceiveParams) (any, error) {
			return nil, startsPipelines("message.receive")
		}, command.Trigger)
}

func startsPipelines(name string) error {
	return sluice.Errorf(sluice.CodeNotInAPipeline, "%s is the first step of a pipeline, which it starts; it does nothing by itself. To get an event, call event.receive.", name)
}

type sendParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the event."`
	Payload  any    `json:"payload" body:"default" doc:"What the event carries."`
}

// sent is the answer for an event or message that is on stable storage.
type sent struct {
	EventKey      string `json:"eventKey,omitempty"`
	Key           string `json:"key,omitempty"`
	TraceID       string `json:"traceId"`
	CorrelationID string `json:"correlationId"`
}

func sendCommand(events sluice.Events, namespace string) command.Command {
	return command.New("event.send", "Send an event: pipelines that listen to its key are started.",
		func(ctx context.Context, p sendParams) (sent, error) {
			if err := checkKey("eventKey", p.EventKey); err != nil {
				return sent{}, err
			}
			return send(ctx, events, sluice.Event{EventKey: p.EventKey, Namespace: namespace}, p.Payload)
		}, command.Traffic)
}

type messageSendParams struct {
	Key     string `json:"key" required:"true" names:"new message" doc:"Key of the message; one that begins with svc.event. makes it an event."`
	Payload any    `json:"payload" body:"default" doc:"What the message carries."`
}

func messageSendCommand(events sluice.Events, namespace string) command.Command {
	return command.New("message.send", "Send a message: pipelines that receive messages of its key are started.",
		func(ctx context.Context, p messageSendParams) (sent, error) {
			if err := checkKey("key", p.Key); err != nil {
				return sent{}, err
			}
			e := sluice.Event{Key: p.Key, Namespace: namespace}
			if key, isEvent := strings.CutPrefix(p.Key, sluice.EventPrefix); isEvent {
				e.Key, e.EventKey = "", key
			}
			return send(ctx, events, e, p.Payload)
		}, command.Traffic)
}

// send stores an event that carries a value. The event has the trace id of the sending run: one
// search finds everything that came of a call.
func send(ctx context.Context, events sluice.Events, e sluice.Event, payload any) (sent, error) {
	text, err := value.Marshal(payload)
	if err != nil {
		return sent{}, err
	}
	if len(text) > sluice.MaxPayloadLength {
		return sent{}, sluice.Errorf(sluice.CodePayloadTooLarge, "The payload is longer than %d bytes.", sluice.MaxPayloadLength)
	}
	if levels, _ := value.Inspect(text); levels > value.MaxDepth { // with the event around it, it would be too deep
		return sent{}, value.TooDeep()
	}
	if e.Hops, err = sluice.NextHop(ctx); err != nil {
		return sent{}, err
	}
	e.ReceivedAt = time.Now().UTC()
	e.TraceID = sluice.NewTraceID(sluice.DirectCall, e.ReceivedAt)
	if run := sluice.RunFrom(ctx); run != nil {
		e.TraceID = run.TraceID
	}
	e.Payload = text
	e.PayloadType, e.PayloadEncoding = sluice.Raw, sluice.EncodingJSON
	e.ContentType = "application/json"
	e.RemoteAddr = sluice.UserFrom(ctx).Address
	result, err := events.Accept(ctx, &e, 0)
	if err != nil {
		return sent{}, err
	}
	return sent{EventKey: e.EventKey, Key: e.Key, TraceID: result.TraceID, CorrelationID: result.CorrelationID}, nil
}

// Bounds on one read of the stored events. A long wait is made of short ones, so that
// it does not delay a stop of the server.
const (
	defaultEvents = 10
	maxWait       = time.Minute
	waitSlice     = 500 * time.Millisecond
)

type getParams struct {
	EventKey string         `json:"eventKey" alias:"key" required:"true" names:"listed" doc:"Key of the events, such as webhook.lead.created; * stands for one group, # at the end for any number of groups."`
	After    string         `json:"after" doc:"The value of next in the previous answer. Without it the events begin now: there are none yet, and next says where to go on."`
	Limit    int            `json:"limit" min:"1" max:"100" doc:"At most this many. Default 10; fewer if they are large."`
	Wait     *time.Duration `json:"wait" doc:"How long to wait for an event if there is none, such as 30s; at most 1m."`
}

// A page is some events, as they are stored.
type page = sluice.List[json.RawMessage]

func getCommand(o Options) command.Command {
	return command.New("event.get", "Read stored events in the order in which they came, page by page. Needs the permission trace.payload, too, since events show what callers have sent.",
		func(ctx context.Context, p getParams) (page, error) {
			if !sluice.UserFrom(ctx).May(sluice.MaySeePayload) {
				return page{}, sluice.NotPermitted(sluice.MaySeePayload)
			}
			if !sluice.ValidPattern(p.EventKey) {
				return page{}, sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s; * stands for one group, # at the end for any number of groups.", sluice.KeyRule)
			}
			q := sluice.EventQuery{Pattern: p.EventKey, After: p.After, Limit: cmp.Or(p.Limit, defaultEvents), Cover: sluice.CoverFrom(ctx).And(sluice.UserFrom(ctx).Cover(sluice.MaySeePayload))}
			left := time.Duration(0)
			if p.Wait != nil {
				left = min(*p.Wait, maxWait)
			}
			found, err := readOn(ctx, o.Log, q, left, o.Stopping)
			for i, item := range found.Items {
				found.Items[i] = sluice.CoverFrom(ctx).HideListenersJSON(item)
			}
			if len(found.Items) > 0 {
				o.Seen(ctx, "event.get", p.EventKey)
			}
			return found, err
		}, command.ReadOnly)
}

// readOn reads until there is an event, the time is up, or the caller or the
// server stops.
func readOn(ctx context.Context, log sluice.EventLog, q sluice.EventQuery, left time.Duration, stopping <-chan struct{}) (page, error) {
	found := page{Items: []json.RawMessage{}}
	end := time.Now().Add(left)
	for {
		q.Wait = min(max(0, time.Until(end)), waitSlice)
		items, next, err := log.After(ctx, q)
		if err != nil {
			return found, err
		}
		q.After, found.Next = next, next
		if len(items) > 0 {
			found.Items = items
			return found, nil
		}
		over := !time.Now().Before(end) || ctx.Err() != nil
		select {
		case <-stopping:
			over = true
		default:
		}
		if over {
			return found, nil
		}
	}
}

// maxTimeout bounds how long event.receive waits.
const maxTimeout = 15 * time.Minute

type receiveParams struct {
	EventKey string         `json:"eventKey" alias:"key" required:"true" names:"listed" doc:"Key of the event."`
	Timeout  *time.Duration `json:"timeout" doc:"How long to wait for the next event, such as 30s; without it the newest stored event counts."`
}

func receiveCommand(o Options) command.Command {
	return command.New(sluice.ReceiveCommand, "Get an event: the one that started the run if it has that key, otherwise the newest stored one, or the next one if a timeout is given; null if there is none. The permission to read is not enough, since events show what callers have sent: it takes event.receive itself, or trace.payload. For an event that did not start the run, the pipeline's owner needs one of them, too.",
		func(ctx context.Context, p receiveParams) (any, error) {
			user := sluice.UserFrom(ctx)
			if !user.May(sluice.ReceiveCommand) && !user.May(sluice.MaySeePayload) {
				return nil, sluice.NotPermitted(sluice.MaySeePayload)
			}
			if err := checkKey("eventKey", p.EventKey); err != nil {
				return nil, err
			}
			covered := user.MayReceive(p.EventKey)
			if run := sluice.RunFrom(ctx); run != nil {
				if run.Event != nil && run.Event["eventKey"] == p.EventKey {
					return run.Event, nil
				}
				owner, err := ownerMayReceive(ctx, run)
				if err != nil {
					return nil, err
				}
				covered = covered && owner.MayReceive(p.EventKey)
			}
			found, err := receive(ctx, o.Stored, p, covered)
			if found == nil || err != nil {
				return nil, err
			}
			o.Seen(ctx, sluice.ReceiveCommand, p.EventKey)
			return value.Decode(sluice.CoverFrom(ctx).HideListenersJSON(found))
		}, command.ReadOnly)
}

// ownerMayReceive refuses a run events that did not start it, unless the pipeline's owner
// may read them: every run of an event is one of anonymousUser, who has event.receive for
// its own event.
func ownerMayReceive(ctx context.Context, run *sluice.Run) (sluice.User, error) {
	owner, err := run.Owner(ctx)
	switch {
	case err != nil:
		return owner, sluice.OwnerError(err)
	case !owner.May(sluice.ReceiveCommand) && !owner.May(sluice.MaySeePayload):
		return owner, sluice.OwnerNotPermitted(sluice.ReceiveCommand)
	}
	return owner, nil
}

// receive gets an event. Those that are not covered never come.
func receive(ctx context.Context, stored sluice.StoredEvents, p receiveParams, covered bool) (json.RawMessage, error) {
	if p.Timeout == nil {
		if !covered {
			return nil, nil
		}
		return stored.Newest(ctx, p.EventKey)
	}
	ctx, cancel := context.WithTimeout(ctx, min(*p.Timeout, maxTimeout))
	defer cancel()
	if !covered {
		<-ctx.Done()
		return nil, nil
	}
	return stored.Next(ctx, p.EventKey)
}
