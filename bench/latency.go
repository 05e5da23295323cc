package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice"
)

// newReceive returns a call of a webhook.
func newReceive(query string) httpRequest {
	body := `{"data":"` + strings.Repeat("x", bodySize-len(`{"data":""}`)) + `"}`
	return httpRequest{
		path: receivePath + query, body: body, header: map[string]string{"Content-Type": "application/json"},
	}
}

// receive calls a webhook and checks the answer: with a pipeline, that has to be
// its value. It returns the correlation id.
func (p *pipelineServer) receive(ctx context.Context, token string, listened bool) (correlationID string, err error) {
	in, err := p.send(ctx, newReceive(token))
	if err != nil {
		return "", err
	}
	var result sluice.Result
	if err := json.Unmarshal(in.content, &result); err != nil {
		return "", err
	}
	return result.CorrelationID, checkResult(result, listened)
}

// checkResult checks that a result is the value of the pipeline, or the trace
// information where no pipeline listens.
func checkResult(result sluice.Result, listened bool) error {
	var value struct {
		Length int    `json:"length"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(result.Value, &value); err != nil {
		return err
	}
	if result.Status != sluice.StatusOK || listened != (value.Length == bodySize) ||
		listened == (value.Status == "OK") {
		return fmt.Errorf("a call came to %s with the value %s", result.Status, result.Value)
	}
	return nil
}

// compareLatency adds how much a pipeline adds to the latency of calls at a low
// rate: with and without one, in turn.
func (b *bench) compareLatency(ctx context.Context, both []*pipelineServer) error {
	const (
		calls = 1000 // of each kind
		every = 5 * time.Millisecond
	)
	var with, without [2][]float64 // milliseconds
	pace := time.NewTicker(every)
	defer pace.Stop()
	progressf("%d calls of each kind, one every %s", calls, every)
	for i := range calls * 4 {
		at := i / 2 % 2
		token, times, listened := both[at].unlistened, &without[at], i%2 == 1
		if listened {
			token, times = both[at].listened, &with[at]
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		began := time.Now()
		if _, err := both[at].receive(ctx, token, listened); err != nil {
			return err
		}
		*times = append(*times, milliseconds(began))
	}
	for i, name := range []string{"", ", 1,000 other pipelines"} {
		b.table.add("latency without a pipeline, one call every 5 ms"+name, percentiles(without[i]))
		b.table.add("latency with a pipeline, one call every 5 ms"+name, percentiles(with[i]))
		added := percentile(with[i], 99) - percentile(without[i], 99)
		text := fmt.Sprintf("%.2f ms; p50 %.2f ms", added, percentile(with[i], 50)-percentile(without[i], 50))
		b.table.hold("added by a pipeline, p99"+name, text, added, under(10, "10 ms"))
	}
	cost := percentile(with[1], 50) / percentile(with[0], 50)
	b.table.hold("latency with a pipeline: with 1,000 other pipelines to without, p50", fmt.Sprintf("%.2f", cost), cost,
		atMost(1.10, "1.10"))
	return nil
}

func percentiles(values []float64) string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", percentile(values, 50), percentile(values, 99))
}
