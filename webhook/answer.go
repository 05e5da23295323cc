package webhook

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"sluice"
	"sluice/sender"
)

// answersOf returns how calls of a webhook are answered: as it says, otherwise as its
// provider demands.
func answersOf(hook *sluice.Webhook, g *trust) (a sender.Answers) {
	if g != nil {
		a = g.answers
	}
	if hook.Answer != "" && hook.Answer != a.Form {
		a = sender.Answers{Form: hook.Answer}
	}
	a.Form, a.Type = cmp.Or(a.Form, sluice.AnswerResult), cmp.Or(hook.AnswerType, a.Type)
	return a
}

// lingerCheck is how often a call that waits checks for reasons to stop waiting.
const lingerCheck = 500 * time.Millisecond

// linger waits for the result of a call whose webhook says that it waits for longer than
// others. By then the call has no slot and no memory: only so many calls wait, and further ones
// are answered at once.
func (rc *Receiver) linger(in *incoming, result *sluice.Result) {
	end := in.arrived.Add(in.wait)
	if result.Status != sluice.StatusProcessing || in.wait <= rc.ResultWait || time.Until(end) <= 0 || rc.Lingering.Enter() != nil {
		return
	}
	defer rc.Lingering.Leave()
	in.shed()
	ctx, began := rc.waiting(in.request), time.Now()
	defer func() { result.Waited += time.Since(began) }()
	for left := time.Until(end); left > 0 && ctx.Err() == nil; left = time.Until(end) {
		select {
		case <-rc.Stopping:
			return
		default:
		}
		found, err := rc.Results.Result(ctx, result.CorrelationID, min(left, lingerCheck))
		if err != nil { // it can be read later
			return
		}
		if found.Status != sluice.StatusProcessing {
			result.StatusCode, result.Status, result.Value, result.Error = found.StatusCode, found.Status, found.Value, found.Error
			return
		}
	}
}

// shed gives up what a call that was stored no longer needs.
func (in *incoming) shed() {
	in.size = len(in.body)
	in.body, in.raw, in.payload, in.files = nil, nil, nil, nil
	in.memory.Release()
}

// Values of headers, shared since nobody changes them.
var (
	jsonContent = []string{"application/json"}
	retryAfter  = []string{strconv.Itoa(int(sluice.PollInterval / time.Second))}
	sandboxed   = []string{"default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"} // a page must not pass for one of the portal's
)

// answer tells the caller what became of its call.
func (rc *Receiver) answer(w http.ResponseWriter, result *sluice.Result, in *incoming) (status int) {
	header := w.Header()
	ids := []string{result.CorrelationID, result.TraceID}
	if result.CorrelationID != "" {
		header[sluice.CorrelationHeader] = ids[0:1:1]
	}
	header[sluice.TraceHeader] = ids[1:2:2]
	switch {
	case result.Differs:
		header.Set("svc-duplicate", "differs")
	case result.Duplicate:
		header.Set("svc-duplicate", "true")
	}
	if result.PollingRedirectEnabled {
		header["Retry-After"] = retryAfter
		header.Set("Location", rc.PublicURL+sluice.ResultPath+"?"+sluice.CorrelationQuery+"="+result.CorrelationID+"&"+sluice.RedirectQuery+"=true")
		w.WriteHeader(http.StatusFound)
		return http.StatusFound
	}
	status, body := in.answers.Of(result, header)
	if body == nil {
		if result.Status == sluice.StatusProcessing {
			header["Retry-After"] = retryAfter
		}
		header["Content-Type"] = jsonContent
		in.payload = append(result.AppendJSON(in.payload[:0]), '\n')
		body = in.payload
	} else if in.answers.Form == sluice.AnswerValue {
		header["Content-Security-Policy"] = sandboxed
	}
	if status != http.StatusOK || len(body) == 0 {
		w.WriteHeader(status)
	}
	_, _ = w.Write(body) // the caller has gone: the event stays
	if len(result.Value) > maxKept {
		_ = http.NewResponseController(w).Flush() // while there is memory for it
	}
	return status
}

// answerCopies is how many times a large result is in memory until its caller has
// read it: as it is stored, as part of the answer, and as the lane sends it.
const answerCopies = 3
