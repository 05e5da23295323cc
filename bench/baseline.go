package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"sluice"
)

// baselineRole is what the server is compared with: a handler that does nothing
// but read the body and answer JSON of the fields and size of a real result.
// Arguments: address, and for HTTPS the settings of a server's certificate.
func baselineRole(args []string) error {
	go endWithParent()
	const token = "00000000-0000-4000-8000-000000000000"
	now := time.Now()
	result := sluice.Accepted(sluice.NewTraceID(token, now), token, now)
	answer := append(result.AppendJSON(nil), '\n')
	handler := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // the caller has gone
	}
	if len(args) > 1 {
		return http.ListenAndServeTLS(args[0], strings.TrimPrefix(args[1], certificateSetting),
			strings.TrimPrefix(args[2], keySetting), http.HandlerFunc(handler))
	}
	return http.ListenAndServe(args[0], http.HandlerFunc(handler))
}

func (b *bench) startBaseline(ctx context.Context, certificate ...string) (*server, error) {
	return b.startServer(ctx, "baseline", "role-baseline", certificate...)
}
