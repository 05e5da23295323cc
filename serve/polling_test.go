package serve_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// A task is a call whose pipeline runs until the test lets it go.
type task struct {
	*service

	outside *outside
	hook    hook
	id      string // correlation id
}

// beginTask starts a server that holds polls for ever, and on it a task that has begun.
func beginTask(t *testing.T, settings ...string) *task {
	t.Helper()
	o := newOutside(t)
	k := &task{service: startFor(t, serve.Timeouts{PollHold: never}, append([]string{"result-wait=20ms", "http-allow=127.0.0.0/8"}, settings...)...), outside: o}
	k.hook = k.create("webhook.task", "payloadType", "raw")
	k.store("task", listening("webhook.task", o.held(), "set: {value: {done: '#{body.body}', count: '#{request.deliveryCount}'}}"))
	k.id = k.again(t).CorrelationID
	return k
}

// again calls once more, and waits until the pipeline has begun.
func (k *task) again(t *testing.T) result {
	t.Helper()
	call := k.call(k.hook, "text/plain", "")
	got := call.result(t)
	if got.Status != "processing" || got.StatusCode != 200 || got.Value != nil || !strings.Contains(string(call.body), `"value":null`) {
		t.Fatalf("the call was answered %s, want processing", call.body)
	}
	wantRetryAfter(t, call)
	k.outside.next()
	return got
}

// ask polls with a flag; "" means none.
func (k *task) ask(id, flag string, alterations ...func(*http.Request)) answer {
	k.t.Helper()
	query := "?svc-result-correlationid=" + id
	if flag != "" {
		query += "&pollingRedirectEnabled=" + flag
	}
	return k.send("GET", resultPath+query, nil, alterations...)
}

// askEarly polls until a poll comes too early, which is soon: unless so much time
// has passed, the first one does.
func (k *task) askEarly(t *testing.T, id string) (early answer) {
	t.Helper()
	eventually(t, "a poll to be refused", func() bool {
		early = k.ask(id, "")
		return early.status == http.StatusTooManyRequests
	})
	return early
}

// hold has the server hold a poll. It makes two: the second one to come is
// refused, so the other is being held by then.
func (k *task) hold(t *testing.T, id string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 2)
	for range 2 {
		go func() { answers <- k.ask(id, "true") }()
	}
	second := <-answers
	second.wantProblem(t, http.StatusTooManyRequests, "polling-too-often")
	wantRetryAfter(t, second)
	return answers
}

// heard returns the answer of a poll that was held.
func heard(t *testing.T, held <-chan answer) answer {
	t.Helper()
	select {
	case polled := <-held:
		return polled
	case <-time.After(patience):
		t.Fatal("a poll is held for too long")
		return answer{}
	}
}

// wantRedirect checks that a poll is answered with a redirect to the endpoint,
// and gives the query it leads to.
func wantRedirect(t *testing.T, a answer, base string) url.Values {
	t.Helper()
	a.wantStatus(t, http.StatusFound)
	wantRetryAfter(t, a)
	location, query, _ := strings.Cut(a.header.Get("Location"), "?")
	if location != base+resultPath {
		t.Errorf("Location is %q, want %s", a.header.Get("Location"), base+resultPath)
	}
	values, err := url.ParseQuery(query)
	if err != nil || values.Get("pollingRedirectEnabled") != "true" || values.Get("svc-result-correlationid") == "" {
		t.Errorf("Location is %q, want the id and pollingRedirectEnabled=true in it", a.header.Get("Location"))
	}
	return values
}

// TestPollsOfATaskThatRuns: what polls are answered until the result is there.
func TestPollsOfATaskThatRuns(t *testing.T) {
	t.Parallel()
	k := beginTask(t)

	t.Run("without a flag it redirects at once", func(t *testing.T) {
		polled := k.ask(k.again(t).CorrelationID, "") // a poll that is held is never answered
		wantRedirect(t, polled, "")
	})
	t.Run("with false it tells", func(t *testing.T) {
		id := k.again(t).CorrelationID
		polled := k.ask(id, "false")
		wantRetryAfter(t, polled)
		if got := polled.result(t); got.Status != "processing" || got.Value != nil || got.CorrelationID != id || got.StatusCode != 200 {
			t.Errorf("the result is %s", polled.body)
		}
		k.askEarly(t, id).wantProblem(t, http.StatusTooManyRequests, "polling-too-often")
	})
	t.Run("early ones wait longer each time", func(t *testing.T) {
		id := k.again(t).CorrelationID
		wantRedirect(t, k.ask(id, ""), "")
		k.askEarly(t, id).wantProblem(t, http.StatusTooManyRequests, "polling-too-often")
		before, at := 5, time.Now()
		for n := 0; n < 130 || n < 1000 && before < 595; n++ {
			early := k.ask(id, "")
			early.wantProblem(t, http.StatusTooManyRequests, "polling-too-often")
			wait, err := strconv.Atoi(early.header.Get("Retry-After"))
			passed := int(time.Since(at) / time.Second) // of the wait
			if err != nil || wait > 600 || wait < 595 && wait+passed <= before {
				t.Fatalf("Retry-After is %q after %d", early.header.Get("Retry-After"), before)
			}
			before, at = wait, at.Add(time.Duration(passed)*time.Second)
		}
		if before < 595 {
			t.Errorf("the wait has grown to %d s only", before)
		}
		k.ask(k.again(t).CorrelationID, "").wantStatus(t, http.StatusFound) // another result is another matter
		close(k.outside.release)
		for range 3 {
			if got := k.await(t, id); got.Status != "ok" { // a result that is there is never throttled
				t.Errorf("the result is %+v", got)
			}
		}
	})
	t.Run("a bad flag", func(t *testing.T) {
		k.ask(k.id, "perhaps").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	})
}

// TestHeldPolls: with redirects on, the server does the waiting.
func TestHeldPolls(t *testing.T) {
	t.Parallel()
	k := beginTask(t)
	held := k.hold(t, k.id)
	k.outside.release <- struct{}{}
	polled := heard(t, held)
	if got := polled.result(t); got.Status != "ok" || !got.PollingRedirectEnabled {
		t.Errorf("the held poll was answered %s", polled.body)
	}
	for range 3 {
		if got := k.ask(k.id, "false").result(t); got.Status != "ok" {
			t.Errorf("the result is %+v", got)
		}
	}

	t.Run("one that early polls have not paid for", func(t *testing.T) {
		id := k.again(t).CorrelationID
		k.ask(id, "").wantStatus(t, http.StatusFound)
		k.askEarly(t, id)
		held := k.hold(t, id)
		k.outside.release <- struct{}{}
		heard(t, held).wantStatus(t, http.StatusOK)
	})
}

// TestPollingRedirectOfACall: the call itself leads to the result, wherever the
// request says that it comes from.
func TestPollingRedirectOfACall(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"", "https://hooks.example.com/in"} {
		k := beginTask(t, "public-url="+public)
		foreign := []func(*http.Request){
			func(r *http.Request) { r.Host = "evil.example" },
			header("X-Forwarded-Host", "evil.example"), header("X-Forwarded-Proto", "gopher"),
			header("X-Forwarded-Prefix", "//evil.example"), header("Forwarded", "host=evil.example"), header("Token", k.hook.UUID),
		}
		call := k.send("POST", receivePath+"?pollingRedirectEnabled=true", nil, foreign...)
		values := wantRedirect(t, call, public)
		if values.Get("svc-result-correlationid") != call.header.Get("svc-result-correlationid") || traceOf(call) == "" {
			t.Errorf("the headers are %v", call.header)
		}
		wantRedirect(t, k.ask(k.id, "", foreign[:5]...), public)
		close(k.outside.release)
		if got := k.await(t, values.Get("svc-result-correlationid")); got.Status != "ok" || !got.PollingRedirectEnabled {
			t.Errorf("the result is %+v", got)
		}
	}
}

// TestStopEndsHeldPolls: a poll that would be held for ever does not hold up the stop. The run
// that the stop ends is begun again afterwards, and the same id finds its result.
func TestStopEndsHeldPolls(t *testing.T) {
	t.Parallel()
	k := beginTask(t, "run-grace=10ms")
	held := k.hold(t, k.id)
	stopped := k.beginStop(t)
	if query := wantRedirect(t, heard(t, held), ""); query.Get("hop") != "1" {
		t.Errorf("the redirect leads to %v, want the first hop", query)
	}
	k.client.CloseIdleConnections()
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	k.resume()
	k.outside.next()
	close(k.outside.release)
	got := k.await(t, k.id)
	if value, _ := got.Value.(map[string]any); value["done"] != true || value["count"] == 1.0 {
		t.Errorf("after the restart the result is %+v, want that of a further delivery", got)
	}

	k.client.CloseIdleConnections()
	k.stop()
	k.resume()
	if again := k.poll(k.id).result(t); again.Status != "ok" {
		t.Errorf("after another restart the result is %+v", again)
	}
}

// TestResultOfAPipelineExpires: its time starts when it is ready.
func TestResultOfAPipelineExpires(t *testing.T) {
	t.Parallel()
	const lasts = 4 * time.Second // enough to be seen, also if the machine is busy
	k := beginTask(t, "result-ttl="+lasts.String())
	begun := time.Now()
	eventually(t, "more time to pass than a result has", func() bool { return time.Since(begun) > lasts+lasts/4 })
	if got := k.ask(k.id, "false").result(t); got.Status != "processing" {
		t.Errorf("the result is %+v before it is there", got)
	}
	close(k.outside.release)
	if got := k.await(t, k.id); got.Status != "ok" {
		t.Errorf("the result is %+v", got)
	}
	eventually(t, "the result to expire", func() bool {
		polled := k.poll(k.id)
		if polled.status == http.StatusGone {
			polled.wantProblem(t, http.StatusGone, "result-gone")
		}
		return polled.status == http.StatusGone
	})
}
