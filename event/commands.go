// Package event has the commands about events and messages: listen, get,
// receive, send and replay. Package jetstream stores the events; package
// pipeline starts the pipelines that listen.
package event

import (
	"context"
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

// send stores an event that carries a value. The event has the trace id of the run that
// sends it, so that one search finds everything that a call has led to.
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
