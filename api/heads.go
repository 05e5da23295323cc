package api

import (
	"net/http"

	"sluice"
)

// Bounds on the header fields of a request.
const (
	maxFields     = 100
	bytesPerField = 128 // in memory, beside its text
)

// Bounded returns the API for net/http. It counts what requests hold beside their bodies:
// streams of HTTP/2 and header fields. The lane has bounds of its own.
func (a *API) Bounded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		err = sluice.Errorf(sluice.CodeTooManyHeaders, "The request has %d header fields; at most %d are taken.", fields, maxFields).Closing()
	} else {
		err = a.Bodies.Grow(r.Context(), &memory, int64(size+fields*bytesPerField))
	}
	if err != nil {
		r.Header = http.Header{} // the answer may take a while to be read
		a.tell(w, r, err)
		return
	}
	a.ServeHTTP(w, r)
}
