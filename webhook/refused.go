package webhook

import (
	"net/http"
	"time"

	"sluice"
	"sluice/problem"
)

// refused tells who observes about a call that was refused unseen, since the
// server has too much to do or stops. A server in need does not look its token
// up, nor read its body: so it is filed under the end of a token in the query or
// header.
func (rc *Receiver) refused(r *http.Request, err error) {
	in := &incoming{request: r, arrived: time.Now()}
	if query, err := parseQuery(nil, r.URL.RawQuery); err == nil {
		in.token, _ = requestToken(query, r.Header) // "" if there are several
	}
	e := sluice.AsError(err)
	rc.observe(in, sluice.Call{TraceID: sluice.NewTraceID(in.claimed(), in.arrived), Status: problem.Status(e), Code: e.Code})
}
