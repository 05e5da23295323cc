package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"
)

const (
	// tracedWebhooks share the stored calls: those of one are far apart.
	tracedWebhooks = 1000
	searches       = 101
)

// measureTrace measures searches among many calls.
func measureTrace(ctx context.Context, b *bench) error {
	s, tokens, err := b.restartFull(ctx, tracedWebhooks, nil)
	if err != nil {
		return err
	}
	before, _ := resident(s.process)
	var ids []string
	err = b.search(ctx, s, "trace.get by the end of a token within an hour, 1,000,000 calls of 1,000 webhooks",
		func() url.Values {
			token := tokens[rand.IntN(len(tokens))]
			return url.Values{
				"traceId": {token[len(token)-6:]},
				"from":    {time.Now().Add(-time.Hour).Format(time.RFC3339)},
				"to":      {time.Now().Add(time.Minute).Format(time.RFC3339)},
			}
		}, &ids)
	if err != nil {
		return err
	}
	some := slices.Clone(ids)
	err = b.search(ctx, s, "trace.get by a whole trace id, of the same calls", func() url.Values {
		return url.Values{"traceId": {some[rand.IntN(len(some))]}}
	}, &ids)
	if err != nil {
		return err
	}
	if after, known := resident(s.process); known {
		b.table.add("resident memory before and after the searches",
			fmt.Sprintf("%s MB, %s MB", grouped(before/1e6), grouped(after/1e6)))
	}
	return nil
}

// search makes searches one after the other and adds the median of their times.
// It adds one trace id of each search to found.
func (b *bench) search(ctx context.Context, s *server, figure string, query func() url.Values, found *[]string) error {
	var times []float64
	for range searches {
		args := query()
		began := time.Now()
		ids, err := s.traceIDs(ctx, args)
		if err != nil {
			return err
		}
		times = append(times, milliseconds(began))
		*found = append(*found, ids[rand.IntN(len(ids))])
	}
	middle := median(times)
	b.table.hold(figure, fmt.Sprintf("%.1f ms; slowest %.0f ms", middle, slices.Max(times)), middle, under(50, "50 ms"))
	progressf("%s: %.1f ms", figure, middle)
	return nil
}

// traceIDs returns the trace ids of the calls that trace.get finds, at least
// one.
func (c *client) traceIDs(ctx context.Context, args url.Values) ([]string, error) {
	var page struct {
		Items []struct {
			TraceID string `json:"traceId"`
		} `json:"items"`
	}
	if err := c.command(ctx, "trace.get", args, &page); err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, errors.New("a search found nothing")
	}
	ids := make([]string, len(page.Items))
	for i, item := range page.Items {
		ids[i] = item.TraceID
	}
	return ids, nil
}
