package serve_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// modelTTL is how long results can be read from a server that is held against
// the model.
const modelTTL = 2 * time.Second

// TestModel holds a server against a small model of what it promises, over a
// random sequence of operations. A failure names its seed: MODEL_SEED=<seed>
// repeats the choices, MODEL_STEPS=<n> makes the sequence longer.
func TestModel(t *testing.T) {
	t.Parallel()
	seed := modelSetting(t, "MODEL_SEED", uint64(time.Now().UnixNano()))
	steps := modelSetting(t, "MODEL_STEPS", 100)
	m := &model{
		service: start(t, "result-ttl="+modelTTL.String()),
		random:  rand.New(rand.NewPCG(seed, 0)),
		hooks:   make(map[string]*hook),
		stored:  make(map[string]*storedPipeline),
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("MODEL_SEED=%d MODEL_STEPS=%d repeats this; the last operations were:\n%s", seed, steps, strings.Join(m.history[max(0, len(m.history)-30):], "\n"))
		}
	})
	for range steps {
		m.operate()
		if t.Failed() {
			return
		}
	}
	m.compareAll()
}

func modelSetting(t *testing.T, name string, standard uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), fmt.Sprint(standard)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A model is what a server has to be like, and the server.
type model struct {
	*service

	random  *rand.Rand
	hooks   map[string]*hook // by uuid
	deleted []hook           // their tokens are refused
	misses  int              // refused tokens: too many are throttled
	stored  map[string]*storedPipeline
	calls   []*modelCall
	version int
	history []string
}

// operate does something by chance.
func (m *model) operate() {
	m.t.Helper()
	choices := []struct {
		often int
		do    func()
	}{
		{8, m.createHook}, {8, m.editHook}, {5, m.deleteHook}, {4, m.compareHooks},
		{40, m.receive}, {10, m.receiveUnheard}, {12, m.putPipeline}, {4, m.putBadPipeline}, {5, m.deletePipeline}, {3, m.comparePipelines},
		{25, m.pollAny}, {2, m.letExpire}, {3, m.restart},
	}
	all := 0
	for _, c := range choices {
		all += c.often
	}
	at := m.random.IntN(all)
	for _, c := range choices {
		if at -= c.often; at < 0 {
			c.do()
			return
		}
	}
}

// notef remembers an operation.
func (m *model) notef(format string, args ...any) {
	m.history = append(m.history, fmt.Sprintf(format, args...))
}

// one of some.
func one[T any](m *model, items ...T) T { return items[m.random.IntN(len(items))] }

// key returns an event key, of few.
func (m *model) key() string { return one(m, "webhook.a", "webhook.b", "webhook.b.c", "other.d") }

// anyHook returns a webhook, nil if there is none. The choice does not depend
// on tokens, which differ between runs.
func (m *model) anyHook() *hook {
	start := m.random.IntN(4)
	for i := range 4 {
		key := []string{"webhook.a", "webhook.b", "webhook.b.c", "other.d"}[(start+i)%4]
		if h := m.hookOf(key); h != nil {
			return h
		}
	}
	return nil
}

func (m *model) hookOf(key string) *hook {
	for _, h := range m.hooks {
		if h.EventKey == key {
			return h
		}
	}
	return nil
}

func (m *model) createHook() {
	m.t.Helper()
	key, kind, length := m.key(), one(m, "raw", "base64", "ignore"), 10+m.random.IntN(50)
	m.notef("create %s %s %d", key, kind, length)
	a := m.command("webhook.put", map[string]any{"eventKey": key, "payloadType": kind, "maxPayloadLength": length})
	if m.hookOf(key) != nil {
		a.wantProblem(m.t, http.StatusConflict, "event-key-taken")
		return
	}
	h := new(hook)
	a.wantStatus(m.t, http.StatusOK).into(m.t, h)
	if h.EventKey != key || h.PayloadType != kind || h.MaxPayloadLength != length {
		m.t.Errorf("created as %s", a.body)
	}
	m.hooks[h.UUID] = h
}

func (m *model) editHook() {
	m.t.Helper()
	h := m.anyHook()
	if h == nil {
		return
	}
	params := map[string]any{"uuid": h.UUID}
	want := *h
	if m.random.IntN(2) == 0 {
		want.EventKey = m.key()
		params["eventKey"] = want.EventKey
	}
	if m.random.IntN(2) == 0 {
		want.MaxPayloadLength = 10 + m.random.IntN(50)
		params["maxPayloadLength"] = want.MaxPayloadLength
	}
	m.notef("edit %s to %s %d", h.EventKey, want.EventKey, want.MaxPayloadLength)
	a := m.command("webhook.put", params)
	if other := m.hookOf(want.EventKey); other != nil && other != h {
		a.wantProblem(m.t, http.StatusConflict, "event-key-taken")
		return
	}
	a.wantStatus(m.t, http.StatusOK)
	m.hooks[h.UUID] = &want
}

func (m *model) deleteHook() {
	m.t.Helper()
	if h := m.anyHook(); h != nil {
		m.notef("delete %s", h.EventKey)
		m.command("webhook.delete", map[string]any{"uuid": h.UUID}).wantStatus(m.t, http.StatusOK)
		m.command("webhook.delete", map[string]any{"uuid": h.UUID}).wantStatus(m.t, http.StatusNotFound)
		m.command("webhook.put", map[string]any{"uuid": h.UUID, "maxPayloadLength": 5}).wantStatus(m.t, http.StatusNotFound)
		delete(m.hooks, h.UUID)
		m.deleted = append(m.deleted, *h)
	}
}

func (m *model) compareHooks() {
	m.t.Helper()
	m.notef("compare webhooks")
	var found []hook
	m.command("webhook.get", nil).wantStatus(m.t, http.StatusOK).into(m.t, &found)
	if len(found) != len(m.hooks) {
		m.t.Errorf("%d webhooks are listed, want %d", len(found), len(m.hooks))
	}
	for _, got := range found {
		want := m.hooks[got.UUID]
		if want == nil || got.EventKey != want.EventKey || got.PayloadType != want.PayloadType || got.MaxPayloadLength != want.MaxPayloadLength {
			m.t.Errorf("found %+v, want %+v", got, want)
		}
	}
}

// receiveUnheard makes calls that are refused.
func (m *model) receiveUnheard() {
	m.t.Helper()
	const freeMisses = 15 // that no server throttles
	if h := m.anyHook(); h != nil {
		m.notef("call %s with too much", h.EventKey)
		m.call(*h, "text/plain", strings.Repeat("x", h.MaxPayloadLength+1)).wantProblem(m.t, http.StatusRequestEntityTooLarge, "payload-too-large")
	}
	if len(m.deleted) > 0 && m.misses < freeMisses {
		m.misses++
		m.notef("call a deleted webhook")
		m.call(one(m, m.deleted...), "text/plain", "x").wantProblem(m.t, http.StatusUnauthorized, "token-invalid")
	}
}

func (m *model) restart() {
	m.t.Helper()
	m.notef("restart")
	m.stop()
	m.misses = 0
	m.resume()
}

// compareAll looks at everything once more.
func (m *model) compareAll() {
	m.t.Helper()
	m.compareHooks()
	m.comparePipelines()
	for _, c := range m.calls {
		m.pollCall(c)
	}
}
