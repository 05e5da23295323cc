package api

import (
	"net/http"
	"time"

	"sluice/command"
)

// download sends bytes as they are made, until the caller goes or the server stops.
func (a *API) download(w http.ResponseWriter, r *http.Request, d command.Download) error {
	ctx, leave := a.interruptible(r.Context())
	defer leave()
	// A download may take longer than reading a request.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", d.ContentType)
	to := &started{ResponseWriter: w}
	err := d.Send(ctx, to)
	switch {
	case err == nil:
		return nil
	case !to.begun:
		w.Header().Del("Content-Type")
		return err
	}
	if ctx.Err() == nil {
		a.Log.Error("A download ended early.", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// started knows whether an answer has begun.
type started struct {
	http.ResponseWriter

	begun bool
}

// Write implements http.ResponseWriter.
func (s *started) Write(p []byte) (int, error) {
	s.begun = true
	return s.ResponseWriter.Write(p)
}
