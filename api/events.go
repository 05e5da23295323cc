package api

import (
	"net/http"
	"net/url"
	"time"

	"sluice"
	"sluice/command"
)

// events sends calls and runs as they happen, as Server-Sent Events.
func (a *API) events(w http.ResponseWriter, r *http.Request) error {
	user, err := a.Authenticate(w, r)
	if err != nil {
		return err
	}
	q, err := tailQuery(r)
	if err != nil {
		return err
	}
	return a.streams.Serve(w, r, user, q)
}

func tailQuery(r *http.Request) (q sluice.TailQuery, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, command.MalformedQuery()
	}
	q.After = r.Header.Get("Last-Event-ID")
	targets := map[string]*string{
		"eventKey": &q.EventKey, "traceId": &q.TraceID, "type": &q.Type, "lastEventId": &q.After,
	}
	for name, values := range query {
		target, known := targets[name]
		if !known || len(values) != 1 {
			return q, sluice.CodeParameterUnknown.Errorf(
				"The parameters here are eventKey, traceId, type and lastEventId, each given once; not %q.", name).
				About(name)
		}
		if *target = values[0]; name == "lastEventId" && r.Header.Get("Last-Event-ID") != "" {
			q.After = r.Header.Get("Last-Event-ID") // an EventSource that reconnects knows better
		}
	}
	return q, sluice.CheckType(q.Type)
}

// Unheard is an answer that nobody reads, or that has already begun.
type Unheard http.Header

// Header implements http.ResponseWriter.
func (u Unheard) Header() http.Header { return http.Header(u) }

// Write implements http.ResponseWriter.
func (Unheard) Write(content []byte) (int, error) { return len(content), nil }

// WriteHeader implements http.ResponseWriter.
func (Unheard) WriteHeader(int) {}

// SetReadDeadline does nothing: the body is here already.
func (Unheard) SetReadDeadline(time.Time) error { return nil }
