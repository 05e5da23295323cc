package api

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"runtime"

	"sluice"
	"sluice/command"
)

// formCopies is how many times a large form is in memory while it is read: as it came,
// as its reader gathers it, and as its values.
const formCopies = 4

// arrived hands on a request when its form is complete. It applies the bounds on bodies
// of strangers, since the issuer and the portal learn from the form who has sent it.
// They refuse forms that are too large, and read no other bodies.
func (a *API) arrived(longest int, next command.Endpoint) command.Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != formType {
			return next(w, r)
		}
		memory := a.Bodies.Strange.Hold()
		defer memory.Release()
		body, err := a.Bodies.Read(w, r, nil, longest, &memory)
		if err != nil && !sluice.TooLarge.Is(err) {
			return err
		}
		if err := a.Bodies.Grow(r.Context(), &memory, formCopies*int64(len(body))); err != nil {
			return err
		}
		// A form that is too large goes on in the request's own body.
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return next(w, r)
	}
}

// inSlot serves a request in one of the slots.
func (a *API) inSlot(next http.Handler) command.Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.Slots.Enter(); err != nil {
			return err
		}
		defer a.Slots.Leave()
		next.ServeHTTP(w, r)
		return nil
	}
}

// Bounds on the header fields of a request.
const (
	maxFields     = 100
	bytesPerField = 128 // in memory, beside its text
)

// Bounded returns the API for net/http. It counts what requests hold beside their bodies:
// streams of HTTP/2 and header fields. The lane has bounds of its own. Each request goes to the
// end of the queue for a core: otherwise connections that each sent many at once would take
// turns of ten milliseconds, and a call of somebody else would wait for a thousand of those.
func (a *API) Bounded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runtime.Gosched()
		a.identify(r)
		if r.ProtoMajor < 2 {
			a.withHead(w, r)
			return
		}
		a.Streams.Serve(w, r, a.withHead)
	})
}

// withHead serves a request while there is memory for its header fields. The body of a
// refused one is not read.
func (a *API) withHead(w http.ResponseWriter, r *http.Request) {
	fields, size := 0, 0
	for name, values := range r.Header {
		fields += len(values)
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	memory := a.Bodies.Strange.Hold()
	defer memory.Release()
	var err error
	if fields > maxFields {
		err = sluice.CodeTooManyHeaders.Errorf("The request has %d header fields; at most %d are taken.",
			fields, maxFields).Closing()
	} else {
		err = a.Bodies.Grow(r.Context(), &memory, int64(size+fields*bytesPerField))
	}
	if err != nil {
		r.Header = http.Header{} // the answer may take a while to be read
		a.report(w, r, err)
		return
	}
	a.ServeHTTP(w, r)
}
