package serve_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// TestStrangersKeepNobodyFromLoggingIn: while strangers of many networks guess passwords,
// somebody who was here before logs in at once, with a password that has to be hashed.
func TestStrangersKeepNobodyFromLoggingIn(t *testing.T) {
	t.Parallel()
	s := start(t, "trusted-proxies=127.0.0.0/8")
	s.user("ada", "iam.whoami")
	login := func(user, password, from string) answer {
		return s.send("GET", "/api/v3/command/iam.whoami", nil, header("X-Forwarded-For", from), func(r *http.Request) { r.SetBasicAuth(user, password) })
	}
	login("ada", "ada's password", "203.0.113.5").wantStatus(t, http.StatusOK)
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "another one of hers"}).wantStatus(t, http.StatusOK)
	stop := make(chan struct{})
	var strangers, begun sync.WaitGroup
	for i := range 64 {
		begun.Add(1)
		strangers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				from := fmt.Sprintf("10.%d.%d.1", i, n%256)
				if i%2 == 1 {
					from = fmt.Sprintf("2001:db8:%x:%x::1", i, n)
				}
				if got := login("admin", "wrong", from); got.status == http.StatusOK {
					t.Error("a wrong password is right")
				}
				if n == 0 {
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	login("ada", "another one of hers", "203.0.113.5").wantStatus(t, http.StatusOK)
	close(stop)
	strangers.Wait()
}
