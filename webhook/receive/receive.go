package receive

import (
	"context"
	"net/http"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/sender"
	"sluice/webhook/form"
)

// A Receiver turns calls of webhooks into events.
type Receiver struct {
	Needs

	misses   *limit.Tries
	refusals *limit.Tries // that are logged
	paced    *limit.Tries // calls of webhooks with a rate
	listed   *limit.Tries // those of them beyond it that are found again
}

// New returns a receiver that lets a client address guess 20 tokens, and one more every 3
// seconds. It logs rejected calls at the same rate, however many come.
func New(n Needs) *Receiver {
	return &Receiver{
		Needs: n, misses: limit.NewTries(20, 3*time.Second), refusals: limit.NewTries(20, 3*time.Second),
		paced: limit.NewTries(1, time.Second), listed: limit.NewTries(1, time.Second),
	}
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

// An outcome is what became of a call: the result of its event, or the greeting that answers
// a handshake.
type outcome struct {
	call     *checked
	result   sluice.Result
	greeting *sender.Answer
}

// handle handles one call, and reports it to Observe.
func (rc *Receiver) handle(w http.ResponseWriter, r *http.Request) error {
	a := arrive(r)
	defer a.release()
	out, err := rc.receive(w, a)
	switch {
	case err != nil:
		if sluice.CodeCertificateMissing.Is(err) {
			w.Header().Set("Connection", "close") // the next connection is asked for one, even if this one was not
		}
		return rc.refuse(a, sluice.AsError(err))
	case out.greeting != nil:
		rc.greet(w, a, out.greeting)
		return nil
	}
	c, result := out.call, &out.result
	rc.linger(c, result)
	memory := rc.Bodies.Answers.Hold()
	defer memory.Release()
	if memory.Try(answerCopies*int64(len(result.Value))) != nil {
		result.Status, result.Value = sluice.StatusProcessing, nil // it can be read later
	}
	said := *result
	if result.Differs {
		said = differing(c.found)
	}
	status := rc.answer(w, &said, c)
	call := c.accepted(result, status)
	if len(c.listeners) > 0 {
		call.Waited = sluice.Milliseconds(result.Waited)
	}
	if result.Duplicate {
		call = rc.repeated(c.found, result, said.TraceID, status)
	}
	rc.observe(a, call)
	return nil
}

// accepted returns the record of a call that has become an event.
func (c *checked) accepted(result *sluice.Result, status int) sluice.Call {
	return sluice.Call{
		TraceID: result.TraceID, CorrelationID: result.CorrelationID, Status: sluice.StatusBefore(c.listeners),
		StatusCode: status, Listeners: c.listeners, Spooled: result.Spooled,
	}
}

// receive makes an event of a call.
func (rc *Receiver) receive(w http.ResponseWriter, a *arrived) (out outcome, err error) {
	r := a.request
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	case http.MethodHead, http.MethodOptions:
		out.greeting, err = rc.receiveGreeting(a)
		return out, err
	default:
		return out, notAllowed(sluice.DefaultMethods)
	}
	if a.query, err = form.ParseQuery(a.query, r.URL.RawQuery); err != nil {
		return out, command.MalformedQuery()
	}
	redirect, err := command.Flag(sluice.RedirectQuery, a.query.First(sluice.RedirectQuery))
	if err != nil {
		return out, err
	}
	f, err := rc.find(w, a)
	if err != nil {
		return out, err
	}
	if err := rc.Slots.Enter(); err != nil {
		return out, err
	}
	defer rc.Slots.Leave()
	hops, err := sluice.HopsOf(r.Header)
	if err != nil {
		return out, err
	}
	c, greeting, err := rc.check(f, false)
	if err != nil || greeting != nil {
		out.greeting = greeting
		return out, err
	}
	out.call = c
	out.result, err = rc.accept(c, hops, redirect)
	return out, err
}

// accept makes a durable event of a checked call, and waits for its result.
func (rc *Receiver) accept(c *checked, hops int, redirect bool) (result sluice.Result, err error) {
	c.answers, c.wait = c.trust.AnswersOf(&c.hook), rc.ResultWait
	if c.hook.AnswerWait != nil {
		c.wait = *c.hook.AnswerWait
	}
	if redirect || c.answers.Form == sluice.AnswerEmpty {
		c.wait = 0 // the result endpoint does the waiting, or nobody
	}
	event, result, err := rc.store(rc.waiting(c.request), c, min(c.wait, rc.ResultWait),
		func(e *sluice.Event) { e.Hops = hops })
	if err != nil {
		return result, sluice.AsError(err).InCall(event.TraceID)
	}
	result.PollingRedirectEnabled = redirect && !result.Differs
	if !result.Duplicate {
		c.listeners = result.Listeners
		rc.log(c.request.Context(), event)
	}
	return result, nil
}

// store makes a durable event of a call, or several. The function completes the event.
func (rc *Receiver) store(
	ctx context.Context, c *checked, wait time.Duration, complete func(*sluice.Event),
) (event *sluice.Event, result sluice.Result, err error) {
	if c.batch {
		return rc.storeBatch(ctx, c, complete)
	}
	event = rc.event(c)
	complete(event)
	result, err = rc.Events.Accept(ctx, event, wait)
	return event, result, err
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
