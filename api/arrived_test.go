package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/api"
	"sluice/command"
	"sluice/limit"
)

// newAPI returns an API with an issuer that takes forms of 64 KiB, and a portal.
func newAPI(t *testing.T, issuer http.HandlerFunc, portal command.Endpoint) *api.API {
	t.Helper()
	return api.New(api.Options{
		Commands: command.NewSet(noAudit, nil),
		Auth:     issuer,
		Portal:   portal,
		Slots:    limit.NewSlots(10),
		Bodies:   limit.NewBodies(limit.BodyOptions{Pace: limit.Pace{Idle: time.Minute, Total: time.Minute}, Known: 1 << 20, Strange: 1 << 20, Unfinished: 10}),
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
}

func serveForms(t *testing.T, issuer http.HandlerFunc, portal command.Endpoint) string {
	t.Helper()
	server := httptest.NewServer(newAPI(t, issuer, portal))
	t.Cleanup(server.Close)
	return server.URL
}

// post sends a body of unknown length, and returns the status of the answer.
func post(t *testing.T, url, body string) int {
	t.Helper()
	answer, err := http.Post(url, "application/x-www-form-urlencoded", io.MultiReader(strings.NewReader(body)))
	if err != nil {
		t.Error(err)
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestFormsOfThePortalTakeMemory: forms count against what strangers have together,
// as other bodies do.
func TestFormsOfThePortalTakeMemory(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	url := serveForms(t, nil, func(_ http.ResponseWriter, r *http.Request) error {
		if r.URL.Path == "/held" {
			begun <- struct{}{}
			<-end
		}
		return nil
	})
	held := make(chan int)
	go func() { held <- post(t, url+"/held", strings.Repeat("&", 500_000)) }()
	<-begun
	if got := post(t, url+"/pipelines", strings.Repeat("&", 500_000)); got != http.StatusServiceUnavailable {
		t.Errorf("a large form is answered %d while another one has all memory", got)
	}
	if got := post(t, url+"/pipelines", "a=b"); got != http.StatusOK {
		t.Errorf("a small form is answered %d", got)
	}
	close(end)
	if got := <-held; got != http.StatusOK {
		t.Errorf("the first form is answered %d", got)
	}
}

// TestNoPartOfAForm: of a form that is too large no handler sees the end alone.
func TestNoPartOfAForm(t *testing.T) {
	var seen string
	url := serveForms(t, func(_ http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen = string(content)
	}, nil)
	form := strings.Repeat("x", 64<<10) + "&grant_type=password"
	post(t, url+"/auth/realms/default/protocol/openid-connect/token", form)
	if seen != form {
		t.Errorf("of %d bytes the handler has seen %d", len(form), len(seen))
	}
}

// TestRequestsTakeTurns: of two connections that each sent many requests at once, neither has
// all of its requests answered first.
func TestRequestsTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const requests = 50
	var mu sync.Mutex
	var order []string
	handler := newAPI(t, nil, func(_ http.ResponseWriter, r *http.Request) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, r.URL.Path)
		return nil
	}).Bounded()
	var both sync.WaitGroup
	for _, path := range []string{"/one", "/two"} {
		both.Go(func() {
			for range requests {
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			}
		})
	}
	both.Wait()
	turns := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1] {
			turns++
		}
	}
	if len(order) != 2*requests || turns < requests/5 {
		t.Errorf("%d requests changed the connection %d times", len(order), turns)
	}
}
