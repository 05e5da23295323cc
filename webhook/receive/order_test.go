package receive

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/webhook/trust"
)

// A course notes which stages a call has reached, in their order. It stands for everything
// that a receiver needs.
type course struct{ stages []string }

func (c *course) reach(stage string) {
	if !slices.Contains(c.stages, stage) {
		c.stages = append(c.stages, stage)
	}
}

func (c *course) OpenedBy(ctx context.Context, token string) (sluice.Webhook, error) {
	c.reach("find")
	hook, err := finder{}.Webhook(ctx, token)
	hook.Trust = &sluice.Trust{Provider: "github", Signing: sluice.StoredSecret + "shared"}
	return hook, err
}

func (c *course) Webhook(ctx context.Context, uuid string) (sluice.Webhook, error) {
	return c.OpenedBy(ctx, uuid)
}

func (c *course) Accept(_ context.Context, e *sluice.Event, _ time.Duration) (sluice.Result, error) {
	c.reach("accept")
	return sluice.Accepted(e.TraceID, "correlation", e.ReceivedAt), nil
}

func (c *course) Keep(string, int, func() *sluice.QuarantinedCall) bool {
	c.reach("quarantine")
	return true
}

// read is the body of a call, and answered what its caller gets.
type (
	read struct {
		io.Reader
		*course
	}
	answered struct {
		recorder
		*course
	}
)

func (r read) Read(p []byte) (int, error) {
	r.reach("read")
	return r.Reader.Read(p)
}

func (a answered) Write(p []byte) (int, error) {
	a.reach("answer")
	return a.recorder.Write(p)
}

// TestStagesComeInOrder: a call is looked for, read, checked, stored, answered and reported in
// this order. A token in the body is looked for once that was read; a call that is wrong is
// neither stored nor answered as accepted.
func TestStagesComeInOrder(t *testing.T) {
	const plain, withToken = `{"a":1}`, `token=` + known
	sign := func(body string) string {
		mac := hmac.New(sha256.New, []byte("a shared secret"))
		mac.Write([]byte(body))
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	for name, test := range map[string]struct{ query, media, body, signature, want string }{
		"a right call":        {"?token=" + known, "application/json", plain, sign(plain), "find read check accept answer observe"},
		"a token in the body": {"", "application/x-www-form-urlencoded", withToken, sign(withToken), "read find check accept answer observe"},
		"a wrong signature":   {"?token=" + known, "application/json", plain, sign("another"), "find read check quarantine observe"},
		"an unknown token":    {"?token=" + strings.Repeat("0", 8) + known[8:], "application/json", plain, sign(plain), "find observe"},
	} {
		c := new(course)
		rc, _ := receiver(finder{}, &sink{})
		rc.Find.WebhookFinder, rc.Events, rc.Quarantine = c, c, c
		rc.Trust.Trusts = trust.New(trust.Options{Secret: func(context.Context, string) (string, error) {
			c.reach("check")
			return "a shared secret", nil
		}})
		rc.Observe = func(sluice.Call) { c.reach("observe") }
		call := httptest.NewRequest(http.MethodPost, "/"+test.query, read{strings.NewReader(test.body), c})
		call.Header.Set("Content-Type", test.media)
		call.Header.Set("X-Hub-Signature-256", test.signature)
		_ = rc.serve(answered{newRecorder(), c}, call) // the errors are tested elsewhere
		if got := strings.Join(c.stages, " "); got != test.want {
			t.Errorf("%s: its stages were %s, want %s", name, got, test.want)
		}
	}
}
