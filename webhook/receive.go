// Package webhook has the commands that manage webhooks (webhook.put, .get,
// .delete) and the one that outside systems call (webhook.receive): a request
// comes in, an event goes out.
//
// It knows HTTP, tokens, payloads and multipart bodies, and by which rules
// webhooks are stored (store.go). Package jetstream stores them and events,
// package api writes errors.
package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/webhook/form"
)

// ReceiverOptions are what a receiver is made of.
type ReceiverOptions struct {
	Webhooks  sluice.WebhookFinder
	Trusts    *Trusts
	Events    sluice.Events
	Namespace string
	PublicURL string   // where the result endpoint is redirected to; "" means this host
	BaseURL   string   // what senders put before the path: they sign the whole URL
	Redact    []string // further request headers to keep out of events, in lower case
	Bodies    *limit.Bodies
	Slots     *limit.Slots
	Log       *slog.Logger

	// Answering ends when calls can't be answered any more.
	Answering context.Context //nolint:containedctx // what calls wait in outlives them

	// ResultWait is how long a call waits for the pipelines it starts.
	ResultWait time.Duration

	// Results finds results of calls that wait for longer than that. Lingering bounds how
	// many do; they are answered when Stopping is closed.
	Results   sluice.Results
	Lingering *limit.Slots
	Stopping  <-chan struct{}

	// Observe is called for every call after it was answered.
	Observe func(sluice.Call)

	// Used is told of calls of webhooks that have, or had, several tokens.
	Used func(uuid, token string)

	// Learn stores the signing secret that a sender has sent in its handshake,
	// on stable storage. Conflict if the webhook has another one by then.
	Learn func(ctx context.Context, token, secret string) error

	// Quarantine keeps calls that were rejected.
	Quarantine Quarantine

	Spans sluice.Spans
}

// A Receiver turns calls of webhooks into events.
type Receiver struct {
	ReceiverOptions

	misses   *limit.Tries
	refusals *limit.Tries // that are logged
}

// NewReceiver returns a receiver that lets a client address guess 20 tokens, and one
// more every 3 seconds. It logs rejected calls at the same rate, however many come.
func NewReceiver(o ReceiverOptions) *Receiver {
	return &Receiver{ReceiverOptions: o, misses: limit.NewTries(20, 3*time.Second), refusals: limit.NewTries(20, 3*time.Second)}
}

type receiveParams struct {
	Token                  string `json:"token" alias:"uuid" required:"true" doc:"Token of the webhook: as a header (best), in the query, or in the body of a POST."`
	PollingRedirectEnabled bool   `json:"pollingRedirectEnabled" doc:"Answer with a redirect to the result endpoint, which redirects until the result is ready."`
}

func receiveCommand(r *Receiver) command.Command {
	return command.NewEndpoint[receiveParams]("webhook.receive",
		"Call a webhook: its token is the authorization, the body is the payload.", r.serve, command.Nameless)
}

// serve handles one call in a span.
func (rc *Receiver) serve(w http.ResponseWriter, r *http.Request) error {
	span := sluice.Span{
		Name: "webhook.receive", Kind: sluice.ServerSpan, Traceparent: r.Header.Get("Traceparent"),
		SpanFacts: sluice.SpanFacts{Method: r.Method, Path: sluice.PathWithoutToken(r.URL.Path), Secure: r.TLS != nil},
	}
	return rc.Spans.Do(r.Context(), span, func(ctx context.Context) error {
		if ctx != r.Context() { // a copy of the request costs more than this check
			*r = *r.WithContext(ctx) // so that log lines of the request belong to the span
		}
		return rc.handle(w, r)
	})
}

// handle handles one call, and reports it to Observe.
func (rc *Receiver) handle(w http.ResponseWriter, r *http.Request) error {
	in := incomings.Get().(*incoming)
	defer in.release()
	in.request, in.arrived = r, time.Now()
	result, err := rc.receive(w, in)
	switch {
	case err != nil:
		if sluice.CodeCertificateMissing.Is(err) {
			w.Header().Set("Connection", "close") // the next connection is asked for one, even if this one was not
		}
		return rc.refuse(in, sluice.AsError(err))
	case in.answer != nil:
		rc.greet(w, in)
		return nil
	}
	rc.linger(in, &result)
	memory := rc.Bodies.Answers.Hold()
	defer memory.Release()
	if memory.Try(answerCopies*int64(len(result.Value))) != nil {
		result.Status, result.Value = sluice.StatusProcessing, nil // it can be read later
	}
	shown := result
	if result.Differs {
		shown = differing(in)
	}
	status := rc.answer(w, &shown, in)
	call := sluice.Call{TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusBefore(in.listeners), StatusCode: status, Listeners: in.listeners, Spooled: result.Spooled}
	if len(in.listeners) > 0 {
		call.Waited = sluice.Milliseconds(result.Waited)
	}
	if result.Duplicate {
		call = rc.repeated(in, &result, shown.TraceID, status)
	}
	rc.observe(in, call)
	return nil
}

func (rc *Receiver) observe(in *incoming, c sluice.Call) {
	c.Time, c.Duration = in.arrived.UTC(), sluice.Milliseconds(time.Since(in.arrived))
	c.EventKey, c.DeliveryID = in.hook.EventKey, in.id
	c.Size = max(in.size, len(in.body), int(in.request.ContentLength))
	c.RemoteAddr = in.request.RemoteAddr
	rc.Spans.Add(in.request.Context(), sluice.SpanFacts{EventKey: c.EventKey, TraceID: c.TraceID, StatusCode: c.StatusCode})
	rc.Observe(c)
}

// receive makes an event of a call and returns its result.
func (rc *Receiver) receive(w http.ResponseWriter, in *incoming) (result sluice.Result, err error) {
	r := in.request
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	case http.MethodHead, http.MethodOptions:
		return result, rc.receiveGreeting(in)
	default:
		return result, notAllowed(sluice.DefaultMethods)
	}
	if in.query, err = form.ParseQuery(in.query, r.URL.RawQuery); err != nil {
		return result, command.MalformedQuery()
	}
	redirect, err := command.Flag(sluice.RedirectQuery, in.query.First(sluice.RedirectQuery))
	if err != nil {
		return result, err
	}
	if err := rc.admit(w, in); err != nil {
		return result, err
	}
	if err := rc.Slots.Enter(); err != nil {
		return result, err
	}
	defer rc.Slots.Leave()
	hops, err := sluice.HopsOf(r.Header)
	if err != nil {
		return result, err
	}
	if in.answer, err = rc.check(in); in.answer != nil || err != nil {
		return result, err
	}
	event := rc.event(in)
	event.Hops = hops
	in.answers, in.wait = answersOf(&in.hook, in.trust), rc.ResultWait
	if in.hook.AnswerWait != nil {
		in.wait = *in.hook.AnswerWait
	}
	if redirect || in.answers.Form == sluice.AnswerEmpty {
		in.wait = 0 // the result endpoint does the waiting, or nobody
	}
	if result, err = rc.Events.Accept(rc.waiting(r), event, min(in.wait, rc.ResultWait)); err != nil {
		return result, sluice.AsError(err).InCall(event.TraceID)
	}
	result.PollingRedirectEnabled = redirect && !result.Differs
	if !result.Duplicate {
		in.listeners = result.Listeners
		rc.log(r.Context(), event)
	}
	return result, nil
}

// waiting returns the context in which a call waits for its result. net/http ends the
// context of a request when the caller closes its side of the connection. Some callers
// do that once they have sent everything, and still want an answer.
func (rc *Receiver) waiting(r *http.Request) context.Context {
	ctx := r.Context()
	if rc.Answering == nil || ctx.Value(http.ServerContextKey) == nil {
		return ctx
	}
	return answering{rc.Answering, ctx}
}

// An answering context ends when calls can't be answered any more, and has the values
// of another one.
type answering struct {
	context.Context //nolint:containedctx // it is one

	values context.Context //nolint:containedctx // see above
}

// Value implements context.Context.
func (a answering) Value(key any) any { return a.values.Value(key) }

// log writes the line by which people find a call again. It makes the record by hand,
// since a logger would look up the line of the source each time.
func (rc *Receiver) log(ctx context.Context, e *sluice.Event) {
	if !rc.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(e.ReceivedAt, slog.LevelInfo, "Webhook ["+e.TraceID+"]: OK", 0)
	line.AddAttrs(slog.String("traceId", e.TraceID), slog.String("eventKey", e.EventKey))
	_ = rc.Log.Handler().Handle(ctx, line) // as a logger does: nothing more can be done
}

// event makes the event of an admitted call.
func (rc *Receiver) event(in *incoming) *sluice.Event {
	now, id := in.arrived.UTC(), in.id
	if in.redact() && id != "" {
		in.id, _ = in.trust.ids.ID(rc.callOf(in)) // it may be redacted, or made of what is
	}
	r := in.request
	in.headers = appendHeaders(in.headers, r, in.token, rc.Redact, in.trust.masked())
	e := &sluice.Event{
		EventKey:    in.hook.EventKey,
		Namespace:   rc.Namespace,
		TraceID:     sluice.NewTraceID(in.hook.UUID, now),
		ReceivedAt:  now,
		PayloadType: in.hook.PayloadType,
		ContentType: r.Header.Get("Content-Type"),
		Method:      r.Method,
		Path:        in.path,
		Query:       in.sentQuery(),
		Headers:     in.headers,
		RemoteAddr:  r.RemoteAddr,
		Traceparent: rc.Spans.Traceparent(r.Context()),
		CE:          cloudEvent(r.Header, in.body),
		DeliveryID:  in.id,
	}
	if id != "" {
		e.Fingerprint = sluice.NewFingerprint(in.hook.UUID, id, in.sent(), in.trust.Window())
		e.BodyHash = sluice.HashBody(in.sent())
	}
	in.encode(e)
	return e
}
