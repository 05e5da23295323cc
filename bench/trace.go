package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// tracedWebhooks share the stored calls: those of one are far apart.
	tracedWebhooks = 1000
	searches       = 101
)

// measureTrace measures searches among many calls. The server is restarted
// first, so that nothing of them is in its memory; the files are in the page
// cache.
func measureTrace(ctx context.Context, b *bench) error {
	calls, s, err := b.fill(ctx, tracedWebhooks)
	if err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	if s, err = b.startSluice(ctx, "full", groupCommit); err != nil {
		return err
	}
	a, err := newAdmin(ctx, s)
	if err != nil {
		return err
	}
	defer a.client.CloseIdleConnections()
	content, err := os.ReadFile(calls.tokens)
	if err != nil {
		return err
	}
	tokens := strings.Fields(string(content))
	before, _ := resident(s.process)
	var ids []string
	err = b.search(ctx, a, "trace.get by the end of a token within an hour, 1,000,000 calls of 1,000 webhooks", func(found []string) url.Values {
		if len(found) > 0 {
			ids = append(ids, found[rand.IntN(len(found))])
		}
		token := tokens[rand.IntN(len(tokens))]
		return url.Values{
			"traceId": {token[len(token)-6:]},
			"from":    {time.Now().Add(-time.Hour).Format(time.RFC3339)},
			"to":      {time.Now().Add(time.Minute).Format(time.RFC3339)},
		}
	})
	if err != nil {
		return err
	}
	err = b.search(ctx, a, "trace.get by a whole trace id, of the same calls", func([]string) url.Values {
		return url.Values{"traceId": {ids[rand.IntN(len(ids))]}}
	})
	if err != nil {
		return err
	}
	if after, known := resident(s.process); known {
		b.table.add("resident memory before and after the searches", fmt.Sprintf("%s MB, %s MB", grouped(before/1e6), grouped(after/1e6)))
	}
	return nil
}

// search makes searches one after the other and adds the median of their times.
// next gives a search from what the one before has found.
func (b *bench) search(ctx context.Context, a *admin, figure string, next func(found []string) url.Values) error {
	const bar = 50 * time.Millisecond
	var times []float64
	var found []string
	for range searches {
		query := next(found)
		var page struct {
			Items []struct {
				TraceID string `json:"traceId"`
			} `json:"items"`
		}
		began := time.Now()
		if err := a.call(ctx, "trace.get", query, &page); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		if len(page.Items) == 0 {
			return errors.New("a search found nothing")
		}
		found = found[:0]
		for _, item := range page.Items {
			found = append(found, item.TraceID)
		}
	}
	middle := median(times)
	b.table.hold(figure, fmt.Sprintf("%.1f ms; slowest %.0f ms", middle*1e3, slices.Max(times)*1e3), "under 50 ms", middle < bar.Seconds())
	progressf("%s: %.1f ms", figure, middle*1e3)
	return nil
}
