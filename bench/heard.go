package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice"
)

// newCall gives a request that calls a webhook.
func (l *listener) newCall(ctx context.Context, path string) (*http.Request, error) {
	body := `{"data":"` + strings.Repeat("x", bodySize-len(`{"data":""}`)) + `"}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.address+path, strings.NewReader(body))
	if err == nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, err
}

// call calls a webhook and checks the answer: with a pipeline, that has to be
// its value. It gives the correlation id.
func (l *listener) call(ctx context.Context, token string, heard bool) (correlationID string, err error) {
	request, err := l.newCall(ctx, receivePath+token)
	if err != nil {
		return "", err
	}
	var result sluice.Result
	if err := exchange(&l.admin.client, request, &result); err != nil {
		return "", err
	}
	return result.CorrelationID, check(result, heard)
}

// check tells whether a result is what the pipeline gives, or what is given
// where no pipeline listens.
func check(result sluice.Result, heard bool) error {
	var value struct {
		Length int    `json:"length"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(result.Value, &value); err != nil {
		return err
	}
	if result.Status != sluice.StatusOK || heard != (value.Length == bodySize) || heard == (value.Status == "OK") {
		return fmt.Errorf("a call came to %s with the value %s", result.Status, result.Value)
	}
	return nil
}

// compareLatency adds what a pipeline adds to the latency of calls that are few:
// with and without one, in turn.
func (b *bench) compareLatency(ctx context.Context, both []*listener) error {
	const (
		calls = 1000 // of each kind
		every = 5 * time.Millisecond
	)
	var with, without [2][]float64 // milliseconds
	pace := time.NewTicker(every)
	defer pace.Stop()
	progressf("%d calls of each kind, one every %s", calls, every)
	for range calls {
		for i, l := range both {
			for _, heard := range []bool{false, true} {
				token, times := l.unheard, &without[i]
				if heard {
					token, times = l.heard, &with[i]
				}
				select {
				case <-pace.C:
				case <-ctx.Done():
					return ctx.Err()
				}
				began := time.Now()
				if _, err := l.call(ctx, token, heard); err != nil {
					return err
				}
				*times = append(*times, time.Since(began).Seconds()*1e3)
			}
		}
	}
	for i, name := range []string{"", ", 1,000 other pipelines"} {
		b.table.add("latency without a pipeline, one call every 5 ms"+name, percentiles(without[i]))
		b.table.add("latency with a pipeline, one call every 5 ms"+name, percentiles(with[i]))
		added := percentile(with[i], 99) - percentile(without[i], 99)
		value := fmt.Sprintf("%.2f ms; p50 %.2f ms", added, percentile(with[i], 50)-percentile(without[i], 50))
		b.table.hold("added by a pipeline, p99"+name, value, "under 10 ms", added < 10)
	}
	cost := percentile(with[1], 50) / percentile(with[0], 50)
	b.table.hold("latency with a pipeline: with 1,000 other pipelines to without, p50", fmt.Sprintf("%.2f", cost), "at most 1.10", cost <= 1.10)
	return nil
}

// percentile gives the value that so many of a hundred are not above.
func percentile(values []float64, of int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)*of/100, len(sorted)-1)]
}

func percentiles(values []float64) string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", percentile(values, 50), percentile(values, 99))
}
