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
	to := &command.Output{Writer: w}
	err := d.Send(ctx, to)
	switch {
	case err == nil:
		return nil
	case !to.Begun:
		w.Header().Del("Content-Type")
		return err
	}
	if ctx.Err() == nil {
		a.Log.Error("A download ended early.", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}
