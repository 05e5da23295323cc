package api

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/problem"
)

const (
	holdFor   = 5 * time.Second        // how long a poll waits for its result
	holdCheck = 500 * time.Millisecond // how often it checks for reasons to stop waiting
)

// A poll asks for a result. Anyone with the correlation id may ask.
type poll struct {
	id       string
	redirect string // pollingRedirectEnabled: "", "true" or "false"
	hop      int    // redirects so far
}

// result answers a poll, and reports its status to ObservePoll.
func (a *API) result(w http.ResponseWriter, r *http.Request) error {
	status, err := a.answerPoll(w, r)
	if err != nil {
		status = problem.Status(err)
	}
	a.ObservePoll(status)
	return err
}

// answerPoll answers a poll with a status, or fails.
func (a *API) answerPoll(w http.ResponseWriter, r *http.Request) (status int, err error) {
	p, err := parsePoll(r)
	if err != nil {
		return 0, err
	}
	memory := a.Bodies.Answers.Hold()
	defer memory.Release()
	result, err := a.readResult(r, p, &memory)
	if err != nil {
		return 0, a.throttleMisses(r, err)
	}
	if result.Status == sluice.StatusProcessing {
		if p.redirect == "true" {
			result, err = a.hold(r, p)
		} else {
			err = a.polls.try(result.CorrelationID, time.Now())
		}
		if err != nil {
			return 0, err
		}
	}
	if err := memory.Try(2 * int64(len(result.Value))); err != nil {
		return 0, err
	}
	return a.send(w, p, result), nil
}

// readResult returns a result as it is now, and takes memory for it. Only a few are read
// at the same time, since the size of a result is not known before.
func (a *API) readResult(r *http.Request, p poll, memory *limit.Hold) (result sluice.Result, err error) {
	if err := a.Slots.Enter(); err != nil {
		return result, err
	}
	defer a.Slots.Leave()
	select {
	case a.reads <- struct{}{}:
		defer func() { <-a.reads }()
	case <-r.Context().Done():
		return result, r.Context().Err()
	}
	if result, err = a.Results.Result(r.Context(), p.id, 0); err == nil {
		err = memory.Try(2 * int64(len(result.Value)))
	}
	return result, err
}

// hold waits for a result, but not for long: clients and proxies have time-outs. It does
// not delay a stop of the server.
func (a *API) hold(r *http.Request, p poll) (sluice.Result, error) {
	release, err := a.polls.hold(p.id)
	if err != nil {
		return sluice.Result{}, err
	}
	defer release()
	for end := time.Now().Add(cmp.Or(a.PollHold, holdFor)); ; {
		left := time.Until(end)
		result, err := a.Results.Result(r.Context(), p.id, min(left, holdCheck))
		if err != nil || result.Status != sluice.StatusProcessing || left <= holdCheck || r.Context().Err() != nil ||
			a.draining() {
			return result, err
		}
	}
}

// send sends a result, or redirects the poll for it.
func (a *API) send(w http.ResponseWriter, p poll, result sluice.Result) (status int) {
	result.PollingRedirectEnabled = p.redirect == "true"
	header := w.Header()
	header.Set(sluice.CorrelationHeader, result.CorrelationID)
	header.Set(sluice.TraceHeader, result.TraceID)
	if result.Status == sluice.StatusProcessing {
		header.Set("Retry-After", strconv.Itoa(int(sluice.PollInterval/time.Second)))
		if p.redirect != "false" {
			// Some clients stop at a URL they have seen, so the hops are
			// counted in it.
			header.Set("Location", fmt.Sprintf("%s%s?%s=%s&%s=true&hop=%d",
				a.PublicURL, sluice.ResultPath, sluice.CorrelationQuery, result.CorrelationID, sluice.RedirectQuery,
				p.hop+1))
			w.WriteHeader(http.StatusFound)
			return http.StatusFound
		}
	}
	header.Set("Content-Type", "application/json")
	_, _ = w.Write(append(result.AppendJSON(nil), '\n')) // an error means that the caller has gone
	return http.StatusOK
}

func parsePoll(r *http.Request) (poll, error) {
	if r.Method != http.MethodGet {
		return poll{}, notAllowed("GET")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return poll{}, command.MalformedQuery()
	}
	p := poll{redirect: query.Get(sluice.RedirectQuery)}
	if p.id, err = correlationID(query); err != nil {
		return poll{}, err
	}
	p.id = strings.ToLower(p.id) // polls are counted by it
	if _, err = command.Flag(sluice.RedirectQuery, p.redirect); err != nil {
		return poll{}, err
	}
	if hop, err := strconv.Atoi(query.Get("hop")); err == nil && hop > 0 && hop < 1<<30 {
		p.hop = hop
	}
	return p, nil
}

// correlationID reads the parameter that names the result, under either name.
func correlationID(query url.Values) (string, error) {
	const name = sluice.CorrelationQuery
	given := slices.Concat(query[name], query["correlationId"])
	if len(given) == 0 || given[0] == "" {
		return "", sluice.CodeParameterMissing.Errorf(
			"The parameter %s is required: the value of that header in the answer of the call.", name).About(name)
	}
	for _, other := range given[1:] {
		if other != given[0] {
			return "", sluice.CodeParameterConflict.Errorf(
				"The parameter %s was given twice with different values; give it once.", name).About(name)
		}
	}
	return given[0], nil
}

// throttleMisses bounds how often an address may ask for results that don't
// exist.
func (a *API) throttleMisses(r *http.Request, err error) error {
	if !sluice.Gone.Is(err) {
		return err
	}
	wait := a.misses.Try(limit.Network(r.RemoteAddr))
	if wait == 0 {
		return err
	}
	return sluice.CodeTooManyBadIDs.Errorf(
		"Too many polls for results that don't exist came from this address.").After(wait)
}

const (
	pollLongest = 10 * time.Minute // the wait does not grow beyond this
	maxPolled   = 100_000          // results whose polls are remembered
	maxHeld     = 2048             // polls held at the same time
)

// polls enforces the rule that polls for a result that is not ready must be
// sluice.PollInterval apart.
type polls struct {
	next    *limit.Cache[string, time.Time] // when the next poll is in time, by correlation id
	waiting *limit.Shares[string]           // one for each result
	slots   *limit.Slots                    // for those that wait
}

func newPolls() *polls {
	return &polls{limit.NewCache[string, time.Time](maxPolled), limit.NewShares[string](1), limit.NewSlots(maxHeld)}
}

// try refuses a poll that comes too early. Each such poll makes the wait longer.
func (p *polls) try(id string, now time.Time) error {
	var early, wait time.Duration
	p.next.Change(id, now, func(next time.Time) (_, until time.Time) {
		if !next.IsZero() {
			early = next.Sub(now)
		}
		wait = min(early+sluice.PollInterval, pollLongest)
		return now.Add(wait), now.Add(wait)
	})
	if early == 0 {
		return nil
	}
	return sluice.CodePollingTooOften.Errorf("The result is not ready, and polls for it come too often; each " +
		"early one makes the wait longer. With pollingRedirectEnabled=true the server does the waiting.").After(wait)
}

// hold marks a poll as waiting for its result, until release is called. It
// refuses a second one for the same result.
func (p *polls) hold(id string) (release func(), err error) {
	if !p.waiting.Enter(id) {
		return nil, sluice.CodePollingTooOften.Errorf(
			"Another poll for this result is being held; follow that one.").After(sluice.PollInterval)
	}
	if p.slots.Enter() != nil {
		p.waiting.Leave(id)
		return nil, sluice.Passing(sluice.CodeOverloaded, "The server holds as many polls as it can.")
	}
	return func() {
		p.slots.Leave()
		p.waiting.Leave(id)
	}, nil
}
