package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"sluice"
)

// TestWhoWaitsForWorkIsToldOnce: a result that somebody outside must do something for is not awaited in silence, and
// what is waited for is said once.
func TestWhoWaitsForWorkIsToldOnce(t *testing.T) {
	t.Parallel()
	polls, asked := 0, 0
	mux := http.NewServeMux()
	mux.HandleFunc(sluice.ResultPath, func(w http.ResponseWriter, _ *http.Request) {
		if polls++; polls < 4 {
			w.Header().Set("Location", sluice.ResultPath+"?svc-result-correlationid=x&hop=1")
			w.Header().Set(sluice.TraceHeader, "abc:1")
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprint(w, `{"statusCode":200,"status":"ok","value":7}`)
	})
	mux.HandleFunc(sluice.CommandPath+"work.queues", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 { // the step before it takes a while
			fmt.Fprint(w, `[]`)
			return
		}
		fmt.Fprint(w, `[{"queue":"other"},{"queue":"scan"}]`)
	})
	mux.HandleFunc(sluice.CommandPath+"work.get", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"items":[{"traceId":"abc:2"},{"traceId":%q,"pipeline":"check"}]}`,
			map[string]string{"scan": "abc:1"}[r.FormValue("queue")])
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	cmd := program(t, "result", "x", "--wait")
	cmd.Env = append(cmd.Env, "SLUICE_URL="+server.URL, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if want := "The pipeline check waits for somebody who does abc:1: sluice work scan -- PROGRAM\n"; said.String() != want || asked != 2 {
		t.Errorf("%d times people hear %q", asked, &said)
	}
}
