package receive

import (
	"net/http"
	"strconv"
	"time"

	"sluice"
)

// Values of headers, shared since nobody changes them.
var (
	jsonContent = []string{"application/json"}
	// plainContent is what no browser runs: every answer also forbids to guess the type.
	plainContent = []string{"text/plain; charset=utf-8"}
	retryAfter   = []string{strconv.Itoa(int(sluice.PollInterval / time.Second))}
	// A page must not pass for one of the portal's.
	sandboxed = []string{"default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"}
)

// answer answers what became of a call.
func (rc *Receiver) answer(w http.ResponseWriter, result *sluice.Result, c *checked) (status int) {
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
		header.Set("Location", rc.PublicURL+sluice.ResultPath+"?"+sluice.CorrelationQuery+"="+
			result.CorrelationID+"&"+sluice.RedirectQuery+"=true")
		w.WriteHeader(http.StatusFound)
		return http.StatusFound
	}
	status, body := c.answers.Of(result, header)
	if body == nil {
		if result.Status == sluice.StatusProcessing {
			header["Retry-After"] = retryAfter
		}
		header["Content-Type"] = jsonContent
		c.payload = append(result.AppendJSON(c.payload[:0]), '\n')
		body = c.payload
	} else if c.answers.Form == sluice.AnswerValue {
		header["Content-Security-Policy"] = sandboxed
		if c.request.Header.Get("Sec-Fetch-Site") == "same-origin" {
			header["Content-Type"] = plainContent // no page of the portal runs what a caller wrote
		}
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
