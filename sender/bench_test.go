package sender

import (
	"bytes"
	"net/http"
	"sync"
	"testing"
	"time"
)

func BenchmarkVerify(b *testing.B) {
	for _, name := range []string{"github", "stripe", "standard-webhooks"} {
		b.Run(name, func(b *testing.B) {
			v, call, now := signed1K(b, name)
			b.ReportAllocs()
			b.SetBytes(int64(len(call.Body)))
			for b.Loop() {
				if err := v.Verify(b.Context(), call, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A call that is right costs no memory, so that checking it does not slow others.
func TestVerifyAllocatesNothing(t *testing.T) {
	if !poolsKeep() {
		t.Skip("the race detector makes pools forget")
	}
	for _, name := range []string{"github", "stripe", "standard-webhooks"} {
		v, call, now := signed1K(t, name)
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { _ = v.Verify(ctx, call, now) }); n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func poolsKeep() bool {
	var pool sync.Pool
	for range 100 {
		pool.Put(new(int))
		if pool.Get() == nil {
			return false
		}
	}
	return true
}

func signed1K(t testing.TB, name string) (*Verifier, *Call, time.Time) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	v := verifierOf(t, name, readVectors(t, name).Secrets, nil)
	call := &Call{Method: "POST", URL: "https://x.example.com/", Header: http.Header{}, Body: bytes.Repeat([]byte("x"), 1024)}
	if err := v.Sign(call, now); err != nil {
		t.Fatal(err)
	}
	return v, call, now
}
