package serve_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// An outside is a real system that pipelines call. It remembers the calls, and
// those of /held are answered only when the test says so: so tests know where a
// run is, without waiting by the clock.
type outside struct {
	t      *testing.T
	url    string
	answer http.HandlerFunc // nil: 200 with the JSON true

	arrived chan inbound  // one for each call
	release chan struct{} // lets one held call go; closed, all of them

	mu    sync.Mutex
	calls []inbound
}

// An inbound is a call that came from a pipeline.
type inbound struct {
	path   string
	header http.Header
	body   string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{t: t, arrived: make(chan inbound, 10_000), release: make(chan struct{})}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

// ServeHTTP implements http.Handler.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	call := inbound{r.URL.Path, r.Header, string(content)}
	o.mu.Lock()
	o.calls = append(o.calls, call)
	o.mu.Unlock()
	o.arrived <- call
	if strings.HasPrefix(r.URL.Path, "/held") {
		select {
		case <-o.release:
		case <-r.Context().Done():
			return
		}
	}
	if o.answer != nil {
		o.answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("true"))
}

// next waits for a call that was not looked at yet.
func (o *outside) next() inbound {
	o.t.Helper()
	select {
	case call := <-o.arrived:
		return call
	case <-time.After(patience):
		o.t.Fatal("waited in vain for a pipeline to call")
		return inbound{}
	}
}

// all returns the calls so far.
func (o *outside) all() []inbound {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]inbound(nil), o.calls...)
}

// held is a step that lasts until the test lets it go.
func (o *outside) held() string { return "http.request: {url: '" + o.url + "/held'}" }

// store stores a pipeline as the admin.
func (s *service) store(name, source string) answer {
	s.t.Helper()
	return s.put(name, source, asAdmin).wantStatus(s.t, http.StatusOK)
}

// forced stores a pipeline although it would be refused what it does.
func forced(r *http.Request) { r.URL.RawQuery = "force=true" }

// put stores a pipeline.
func (s *service) put(name, source string, alterations ...func(*http.Request)) answer {
	s.t.Helper()
	return s.send("PUT", "/api/v3/pipeline/"+name, strings.NewReader(source), alterations...)
}

// run runs a pipeline without storing it, as the admin.
func (s *service) run(source string) answer {
	s.t.Helper()
	return s.send("POST", "/api/v3/pipeline", strings.NewReader(source), asAdmin)
}

// A result is the result JSON of a call.
type result struct {
	StatusCode             int            `json:"statusCode"`
	Status                 string         `json:"status"`
	Value                  any            `json:"value"`
	Error                  map[string]any `json:"error"`
	PollingRedirectEnabled bool           `json:"pollingRedirectEnabled"`
	CorrelationID          string         `json:"correlationId"`
	TraceID                string         `json:"traceId"`
}

// result decodes the result JSON of an answer.
func (a answer) result(t *testing.T) (r result) {
	t.Helper()
	a.wantStatus(t, http.StatusOK).into(t, &r)
	return r
}

// await polls until a result is ready.
func (s *service) await(t *testing.T, correlationID string) (r result) {
	t.Helper()
	eventually(t, "the result", func() bool {
		a := s.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+correlationID, nil)
		if a.status == http.StatusFound {
			return false
		}
		r = a.result(t)
		return true
	})
	return r
}

// listening is a pipeline that starts with events of a key and runs as the admin.
func listening(eventKey string, steps ...string) string {
	return "pipeline:\n- event.listen: {eventKey: '" + eventKey + "'}\n- iam.run.as: {username: admin}\n- " + strings.Join(steps, "\n- ") + "\n"
}
