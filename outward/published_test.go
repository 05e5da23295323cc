package outward

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/limit"
)

const (
	longest = 64 << 10
	burst   = 10
)

// publisher reads what a local server publishes that answers for every host, with a certificate
// that is trusted.
func publisher(t *testing.T, handler http.HandlerFunc) *Published[string] {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: transport.TLSClientConfig.RootCAs, ServerName: "example.com"}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	t.Cleanup(transport.CloseIdleConnections)
	return NewPublished(PublishOptions[string]{
		Client: Client(transport, time.Second), Longest: longest, Every: time.Second, Burst: burst, Kept: 24 * time.Hour,
		Read: func(content []byte) (string, error) { return string(content), nil },
	})
}

func TestPublishedKeepsWhatItGot(t *testing.T) {
	var asked atomic.Int32
	p := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.Path + strconv.Itoa(int(asked.Add(1)))))
	})
	now := time.Unix(1_800_000_000, 0)
	p.Now = func() time.Time { return now }
	get := func(maxAge time.Duration) string {
		t.Helper()
		content, err := p.Get(t.Context(), "https://keys.example.com/k", maxAge)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	if a, b := get(time.Hour), get(time.Hour); a != "/k1" || b != "/k1" {
		t.Errorf("%s, then %s", a, b)
	}
	now = now.Add(time.Hour + time.Second)
	if got := get(time.Hour); got != "/k2" {
		t.Errorf("after an hour: %s", got)
	}
	now = now.Add(5 * time.Second)
	if got := get(10 * time.Second); got != "/k2" {
		t.Errorf("too soon: %s", got)
	}
}

func TestPublishedAsksOnceAtATime(t *testing.T) {
	var asked atomic.Int32
	release := make(chan struct{})
	p := publisher(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-release
		_, _ = w.Write([]byte("keys"))
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if content, err := p.Get(t.Context(), "https://keys.example.com/k", time.Hour); err != nil || content != "keys" {
				t.Errorf("%q, %v", content, err)
			}
		})
	}
	close(release)
	group.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestPublishedRefuses(t *testing.T) {
	p := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/good", http.StatusFound)
		case "/large":
			_, _ = w.Write(make([]byte, longest+1))
		case "/good":
			_, _ = w.Write([]byte("keys"))
		default:
			http.NotFound(w, r)
		}
	})
	for path, ok := range map[string]bool{"/good": true, "/redirect": false, "/large": false, "/none": false} {
		_, err := p.Get(t.Context(), "https://keys.example.com"+path, time.Hour)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPublishedIsBounded(t *testing.T) {
	p := publisher(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("keys")) })
	now := time.Unix(1_800_000_000, 0)
	p.Now = func() time.Time { return now }
	failed := 0
	for i := range 20 {
		if _, err := p.Get(t.Context(), "https://keys.example.com/"+strconv.Itoa(i), time.Hour); err != nil {
			failed++
			if _, ok := errors.AsType[TooOftenError](err); !ok {
				t.Error(err)
			}
		}
	}
	if failed != 20-burst {
		t.Errorf("%d of 20 fetches at once were refused", failed)
	}
	if _, err := p.Get(t.Context(), "https://other.example.org/", time.Hour); err != nil {
		t.Errorf("another sender's keys are refused, too: %v", err)
	}
	for i := range 2 * maxAddresses {
		now = now.Add(time.Second)
		if _, err := p.Get(t.Context(), "https://keys.example.com/more/"+strconv.Itoa(i), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range 2 * maxAddresses {
		if _, _, ok := p.Last("https://keys.example.com/more/" + strconv.Itoa(i)); ok {
			kept++
		}
	}
	if kept > maxAddresses || kept < maxAddresses*8/10 {
		t.Errorf("%d are kept", kept)
	}
}

// TestASlowDomainHoldsUpFew: of those who need what it does not give, few wait, and of the others
// nobody; a failure is remembered for a while.
func TestASlowDomainHoldsUpFew(t *testing.T) {
	hang := make(chan struct{})
	var asked atomic.Int32
	p := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Host == "slow.example.com" {
			<-hang
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	p.Failed = time.Minute
	results := make(chan error)
	const callers = 100
	for i := range callers {
		go func() {
			_, err := p.Get(t.Context(), "https://slow.example.com/"+strconv.Itoa(i%2), time.Hour)
			results <- err
		}()
	}
	for range callers - maxWaiters {
		if err := <-results; !errors.Is(err, limit.ErrNoPlace) {
			t.Errorf("a caller too many is told %v", err)
		}
	}
	if _, err := p.Get(t.Context(), "https://other.example.org/", time.Hour); err != nil {
		t.Errorf("another domain: %v", err)
	}
	close(hang)
	for range maxWaiters {
		if err := <-results; err == nil || errors.Is(err, limit.ErrNoPlace) {
			t.Errorf("a caller who waited is told %v", err)
		}
	}
	before := asked.Load()
	if _, err := p.Get(t.Context(), "https://slow.example.com/1", time.Hour); err == nil || asked.Load() != before {
		t.Errorf("right after a failure it is asked again (%v)", err)
	}
}

// TestContentIsReadBeforeItIsTooOld: nobody waits for it then.
func TestContentIsReadBeforeItIsTooOld(t *testing.T) {
	var asked atomic.Int32
	p := publisher(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strconv.Itoa(int(asked.Add(1)))))
	})
	var now atomic.Int64
	p.Now = func() time.Time { return time.Unix(1_800_000_000, now.Load()) }
	get := func() string {
		t.Helper()
		content, err := p.Get(t.Context(), "https://keys.example.com/", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	get()
	now.Store(int64(50 * time.Minute))
	if got := get(); got != "1" {
		t.Errorf("what is known counts until then: %s", got)
	}
	for asked.Load() < 2 || get() != "2" {
		runtime.Gosched()
	}
}

func TestDomains(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.b.example.com/x": "example.com", "https://shop.example.co.uk/": "example.co.uk",
		"https://192.0.2.1:8443/": "192.0.2.1", "https://localhost/": "localhost", "%": "",
	} {
		if got := domainOf(address); got != want {
			t.Errorf("%s is of %q, want %q", address, got, want)
		}
	}
}
