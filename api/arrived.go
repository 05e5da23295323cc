package api

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"sluice"
	"sluice/command"
)

// formCopies is how many times a large form is in memory when it is read: as it
// came, as its reader gathers it, and as the values in it.
const formCopies = 4

// arrived hands a request on when its form is here, within the bounds on bodies of
// strangers: the issuer and the portal read forms by themselves, and know only then
// who has sent them. What is too large is left to them to refuse, as are other
// bodies: they read none.
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
		// Of one that is too large there may be more, which is not a form.
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return next(w, r)
	}
}

// placed gives a request one of the places.
func (a *API) placed(next http.Handler) command.Endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.Slots.Enter(); err != nil {
			return err
		}
		defer a.Slots.Leave()
		next.ServeHTTP(w, r)
		return nil
	}
}
