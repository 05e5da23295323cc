package event

import (
	"context"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

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
			if err := checkOwnKey("eventKey", p.EventKey); err != nil {
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
			if err := checkOwnKey("key", p.Key); err != nil {
				return sent{}, err
			}
			e := sluice.Event{Key: p.Key, Namespace: namespace}
			if key, isEvent := strings.CutPrefix(p.Key, sluice.EventPrefix); isEvent {
				e.Key, e.EventKey = "", key
			}
			return send(ctx, events, e, p.Payload)
		}, command.Traffic)
}

// checkOwnKey refuses what can't be the key of an event or message that a user sends.
func checkOwnKey(parameter, key string) error {
	if sluice.IsInternalKey(strings.TrimPrefix(key, sluice.EventPrefix)) {
		return sluice.InvalidParameter(parameter,
			"The parameter %s must not begin with sluice.: such events are made by the server itself.", parameter)
	}
	return checkKey(parameter, key)
}

// send stores an event that carries a value. The event has the trace id of the sending run: one
// search finds everything that came of a call.
func send(ctx context.Context, events sluice.Events, e sluice.Event, payload any) (done sent, err error) {
	text, err := value.Marshal(payload)
	if err != nil {
		return done, err
	}
	if len(text) > sluice.MaxPayloadLength {
		return done, sluice.Errorf(sluice.CodePayloadTooLarge, "The payload is longer than %d bytes.",
			sluice.MaxPayloadLength)
	}
	if levels, _ := value.Inspect(text); levels > value.MaxDepth { // with the event around it, it would be too deep
		return done, value.TooDeep()
	}
	if e.Hops, err = sluice.NextHop(ctx); err != nil {
		return done, err
	}
	e.ReceivedAt = time.Now().UTC()
	e.TraceID = sluice.NewTraceID(sluice.DirectCall, e.ReceivedAt)
	if run := sluice.RunFrom(ctx); run != nil {
		e.TraceID = run.TraceID
		run.Identify(&e)
	}
	e.Payload = text
	e.PayloadType, e.PayloadEncoding = sluice.Raw, sluice.EncodingJSON
	e.ContentType = "application/json"
	e.RemoteAddr = sluice.UserFrom(ctx).Address
	result, err := events.Accept(ctx, &e, 0)
	if err != nil {
		return done, err
	}
	return sent{EventKey: e.EventKey, Key: e.Key, TraceID: result.TraceID, CorrelationID: result.CorrelationID}, nil
}
