package api

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/throttle"
)

// result answers a poll. Whoever holds the correlation id may ask.
func (a *API) result(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return notAllowed("GET")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return sluice.Errorf(sluice.Invalid, "query-malformed", "The query of the URL is malformed; percent-encode what is not a letter or digit.")
	}
	id, err := correlationID(query)
	if err != nil {
		return err
	}
	redirect, err := command.Flag("pollingRedirectEnabled", query.Get("pollingRedirectEnabled"))
	if err != nil {
		return err
	}
	result, err := a.Results.Result(r.Context(), id, 0)
	if err != nil {
		return a.throttleMisses(r, err)
	}
	result.PollingRedirectEnabled = redirect
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("svc-result-correlationid", result.CorrelationID)
	header.Set("svc-trace-id", result.TraceID)
	writeJSON(w, result)
	return nil
}

// correlationID reads the parameter that names the result, under either name.
func correlationID(query url.Values) (string, error) {
	const name = "svc-result-correlationid"
	given := slices.Concat(query[name], query["correlationId"])
	e := sluice.Errorf(sluice.Invalid, "parameter-missing", "The parameter %s is required: the value of that header in the answer of the call.", name)
	e.Parameter = name
	if len(given) == 0 || given[0] == "" {
		return "", e
	}
	for _, other := range given[1:] {
		if other != given[0] {
			e.Code, e.Message = "parameter-conflict", "The parameter "+name+" was given twice with different values; give it once."
			return "", e
		}
	}
	return given[0], nil
}

// throttleMisses bounds how often an address may ask for what isn't there.
func (a *API) throttleMisses(r *http.Request, err error) error {
	if sluice.AsError(err).Kind != sluice.Gone {
		return err
	}
	wait := a.misses.Try(throttle.Network(r.RemoteAddr))
	if wait == 0 {
		return err
	}
	e := sluice.Errorf(sluice.Throttled, "too-many-bad-ids", "Too many polls for results that don't exist came from this address.")
	e.RetryAfter = wait
	return e
}
