package event

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

type sendParams struct {
	EventKey string `json:"eventKey" alias:"key" required:"true" names:"new event" doc:"Key of the event."`
	Payload  any    `json:"payload" body:"default" doc:"What the event carries."`
	sending
}

// sending is when and how often something is sent.
type sending struct {
	DeliveryID string        `json:"deliveryId" doc:"Makes no second event within 24 hours: what is sent again with the same id and key is answered with the ids of the first. At most 200 bytes."`
	Delay      time.Duration `json:"delay" min:"1s" max:"720h" doc:"Pipelines get it after this time."`
	At         time.Time     `json:"at" doc:"Pipelines get it at this time, at most 720h from now. One that is over: at once."`
}

const (
	maxDeliveryID    = 200 // bytes
	deliveryIDWindow = 24 * time.Hour
	longestDelay     = 720 * time.Hour
)

func twoTimes() error { return sluice.InvalidParameter("at", "Give either delay or at.") }

// sends is what the commands that send have in common: to a key, which a parameter has.
func sends(key string) command.Option {
	return func(c *command.Command) {
		command.Traffic(c)
		command.Valid(key, func(key any) error {
			switch text, _ := key.(string); {
			case sluice.IsInternalKey(strings.TrimPrefix(text, sluice.EventPrefix)):
				return errors.New("must not begin with sluice.: such events are made by the server itself")
			case !sluice.ValidKey(text):
				return errors.New("must be " + sluice.KeyRule)
			}
			return nil
		})(c)
		command.Valid("deliveryId", func(id any) error {
			if text, _ := id.(string); len(text) > maxDeliveryID {
				return fmt.Errorf("must have at most %d bytes", maxDeliveryID)
			}
			return nil
		})(c)
		command.Valid("at", func(at any) error {
			if t, _ := at.(time.Time); t.IsZero() { // an empty text, too, which is no time elsewhere
				return errors.New("must be a time such as 2030-01-31T12:00:00Z")
			}
			return nil
		})(c)
		command.Checks(func(known map[string]any) error {
			if known["delay"] != nil && known["at"] != nil {
				return twoTimes()
			}
			return nil
		})(c)
	}
}

// apply gives an event its id and its time.
func (s sending) apply(e *sluice.Event) error {
	switch {
	case s.Delay != 0 && !s.At.IsZero():
		return twoTimes()
	case s.At.After(e.ReceivedAt.Add(longestDelay)):
		return sluice.InvalidParameter("at", "The parameter at must be at most %v from now.", longestDelay)
	case s.Delay != 0:
		e.Due = e.ReceivedAt.Add(s.Delay)
	case s.At.After(e.ReceivedAt):
		e.Due = s.At.UTC()
	}
	if e.DeliveryID = s.DeliveryID; s.DeliveryID != "" {
		e.SetFingerprint(nil, "send\x00"+e.MessageKey(), s.DeliveryID, nil, deliveryIDWindow)
	}
	return nil
}

// sent is the answer for an event or message that is on stable storage.
type sent struct {
	EventKey      string `json:"eventKey,omitempty" doc:"Of an event."`
	Key           string `json:"key,omitempty" doc:"Of a message."`
	TraceID       string `json:"traceId" doc:"Finds what pipelines make of it, in traces and logs."`
	CorrelationID string `json:"correlationId" doc:"Finds the result, in a poll."`

	Due       time.Time `json:"due,omitzero" doc:"When pipelines get it, if that is later."`
	Duplicate bool      `json:"duplicate,omitempty" doc:"It was sent before with the same delivery id."`
}

func (o Options) sendEvent(ctx context.Context, p sendParams) (sent, error) {
	return o.send(ctx, sluice.Event{EventKey: p.EventKey}, p.Payload, p.sending)
}

type messageSendParams struct {
	Key     string `json:"key" required:"true" names:"new message" doc:"Key of the message; one that begins with svc.event. makes it an event."`
	Payload any    `json:"payload" body:"default" doc:"What the message carries."`
	sending
}

func (o Options) sendMessage(ctx context.Context, p messageSendParams) (sent, error) {
	e := sluice.Event{Key: p.Key}
	if key, isEvent := strings.CutPrefix(p.Key, sluice.EventPrefix); isEvent {
		e.Key, e.EventKey = "", key
	}
	return o.send(ctx, e, p.Payload, p.sending)
}

// send stores an event that carries a value. The event has the trace id of the sending run: one
// search finds everything that came of a call.
func (o Options) send(ctx context.Context, e sluice.Event, payload any, s sending) (done sent, err error) {
	text, err := value.Marshal(payload)
	if err != nil {
		return done, err
	}
	if len(text) > sluice.MaxPayloadLength {
		return done, sluice.CodePayloadTooLarge.Errorf("The payload is longer than %d bytes.",
			sluice.MaxPayloadLength)
	}
	if levels, _ := value.Inspect(text); levels > value.MaxDepth { // with the event around it, it would be too deep
		return done, value.TooDeep()
	}
	if e.Hops, err = sluice.NextHop(ctx); err != nil {
		return done, err
	}
	e.Namespace, e.ReceivedAt = o.Namespace, time.Now().UTC()
	e.TraceID = sluice.NewTraceID(sluice.DirectCall, e.ReceivedAt)
	if run := sluice.RunFrom(ctx); run != nil {
		e.TraceID = run.TraceID
		run.Identify(&e)
	}
	if err := s.apply(&e); err != nil {
		return done, err
	}
	e.Payload = text
	e.PayloadType, e.PayloadEncoding = sluice.Raw, sluice.EncodingJSON
	e.ContentType = "application/json"
	e.RemoteAddr = sluice.UserFrom(ctx).Address
	result, err := o.Events.Accept(ctx, &e, 0)
	if err != nil {
		return done, err
	}
	if result.TraceID == e.TraceID { // otherwise another call has set it off
		sluice.RunFrom(ctx).NoteSent(result.Sequence)
	}
	done = sent{
		EventKey: e.EventKey, Key: e.Key, TraceID: result.TraceID, CorrelationID: result.CorrelationID, Due: e.Due,
	}
	if done.Duplicate = result.Duplicate && s.DeliveryID != ""; done.Duplicate {
		done.Due = time.Time{} // that of the first counts
	}
	return done, nil
}
