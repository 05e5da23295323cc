package calls

import (
	"net/http"

	"sluice"
	"sluice/live"
	"sluice/portal/page"
)

// liveStreams returns the streams that pages follow. A reader who has signed out gets nothing more.
func liveStreams(s *page.Site) page.Endpoint {
	streams := live.New(live.Streams{
		Tail: s.Tail, Stopping: s.Stopping, Pages: true,
		Identify: func(r *http.Request) (sluice.User, error) {
			now := &page.Visit{Site: s, W: newRecorder(), R: r}
			err := now.SignedIn()
			return now.User, err
		},
	})
	return func(v *page.Visit) error {
		return streams.Serve(v.W, v.R, v.User, sluice.TailQuery{
			EventKey: v.Query("eventKey"), TraceID: v.Query("trace"), After: v.R.Header.Get("Last-Event-ID"),
		})
	}
}
