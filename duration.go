package sluice

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var daysInAge = regexp.MustCompile(`^(\d{1,4})([dw])`)

// ParseAge reads how long ago something was: 30m, 2h, 1d or 1w2d12h.
func ParseAge(text string) (age time.Duration, err error) {
	rest := text
	for {
		found := daysInAge.FindStringSubmatch(rest)
		if found == nil {
			break
		}
		days, _ := strconv.Atoi(found[1]) // the pattern says that it is a number
		if found[2] == "w" {
			days *= 7
		}
		age += time.Duration(days) * 24 * time.Hour
		rest = rest[len(found[0]):]
	}
	if rest == "" && text != "" {
		return age, nil
	}
	more, err := time.ParseDuration(rest)
	if more < 0 {
		return 0, errors.New("a time ago is not negative")
	}
	return age + more, err
}

// Since returns the time that the parameters from and since of a command stand for. At
// most one of them may be given.
func Since(from time.Time, since string) (time.Time, error) {
	if since == "" {
		return from, nil
	}
	if !from.IsZero() {
		return from, InvalidParameter("since", "Give either since or from.")
	}
	age, err := ParseAge(since)
	if err != nil {
		return from, InvalidParameter("since", "The parameter since must be how long ago, such as 30m, 2h or 1d.")
	}
	return time.Now().Add(-age).UTC(), nil
}

// ShortDuration writes a duration as people do: 24h, not 24h0m0s.
func ShortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// A Span is a piece of work that tracing tools are told of.
type Span struct {
	Name        string
	Subject     string // what the work is about; ends the name that tools show
	Kind        SpanKind
	Traceparent string // header that names the work it is part of; empty: the work of the context
	SpanFacts
}

// A SpanKind says on which side of a conversation work is done.
type SpanKind int

// Kinds of spans.
const (
	InternalSpan SpanKind = iota // within the program
	ServerSpan                   // answers a request
	ClientSpan                   // waits for another server
	ConsumerSpan                 // handles an event
)

// SpanFacts describe a piece of work. Zero fields are left out.
type SpanFacts struct {
	Method, Path, Server string // of an HTTP request
	Secure               bool   // it comes or goes by HTTPS
	Port                 string // of the server that it goes to; empty: that of the scheme
	StatusCode           int    // of its answer
	EventKey             string
	TraceID              string // of the call that led to it; work within that of another has the same
	User                 string // who it is done for
}

// A Tracer tells tracing tools which work belongs together, as OpenTelemetry does.
type Tracer interface {
	// Start begins a piece of work. Whatever is done with the returned context is
	// part of it. end is called once, with the error of the work.
	Start(ctx context.Context, span Span) (_ context.Context, end func(error))

	// Add reports further facts about the work of ctx.
	Add(ctx context.Context, facts SpanFacts)

	// Traceparent returns the header that names the work of ctx to others, empty if
	// there is none.
	Traceparent(ctx context.Context) string
}

// Spans does work in spans. The zero value reports nothing, and costs nothing.
type Spans struct{ Tracer Tracer }

// Do does a piece of work in a span, and gives its error.
func (s Spans) Do(ctx context.Context, span Span, work func(context.Context) error) error {
	if s.Tracer == nil {
		return work(ctx)
	}
	ctx, end := s.Tracer.Start(ctx, span)
	err := work(ctx)
	end(err)
	return err
}

// Add reports further facts about the work of ctx.
func (s Spans) Add(ctx context.Context, facts SpanFacts) {
	if s.Tracer != nil {
		s.Tracer.Add(ctx, facts)
	}
}

// Traceparent returns the header that names the work of ctx to others, empty if there is
// none.
func (s Spans) Traceparent(ctx context.Context) string {
	if s.Tracer == nil {
		return ""
	}
	return s.Tracer.Traceparent(ctx)
}
