package api

import (
	"bytes"
	"io"
	"mime"
	"net/http"

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
		if err != nil && sluice.AsError(err).Kind != sluice.TooLarge {
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
