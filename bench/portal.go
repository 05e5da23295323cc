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

// portalVisits is how often each kind of page is looked at.
const portalVisits = 41

// A pageKind is a kind of page, with what gives the path of one of them.
type pageKind struct {
	name string
	path func() string
}

// measurePortal measures the pages that people look at, among many webhooks and
// calls. The runs of the pipelines lie behind all other calls, so that to find
// them takes the longest; and the server is restarted first, as in measureTrace.
func measurePortal(ctx context.Context, b *bench) error {
	calls, s, err := b.prepareFill(ctx, manyWebhooks)
	if err != nil {
		return err
	}
	a, err := newAdmin(ctx, s)
	if err != nil {
		return err
	}
	if err := a.furnish(ctx); err != nil {
		return err
	}
	if err := b.callUntilFull(ctx, calls); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	if s, err = b.startSluice(ctx, "full", groupCommit); err != nil {
		return err
	}
	if a, err = newAdmin(ctx, s); err != nil {
		return err
	}
	defer a.client.CloseIdleConnections()
	kinds, err := a.pageKinds(ctx)
	if err != nil {
		return err
	}
	return b.visit(ctx, a, kinds)
}

// pageKinds gives the kinds of pages, of which each look is at another one where
// there are many.
func (a *admin) pageKinds(ctx context.Context) ([]pageKind, error) {
	var found struct {
		Items []struct {
			TraceID string `json:"traceId"`
		} `json:"items"`
	}
	if err := a.call(ctx, "trace.get", url.Values{"limit": {"1000"}}, &found); err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, errors.New("no calls were found")
	}
	always := func(path string) func() string { return func() string { return path } }
	number := func() int { return rand.IntN(manyWebhooks) }
	lately := func() string {
		return url.QueryEscape(time.Now().Add(-time.Duration(rand.IntN(60)) * time.Second).UTC().Format("2006-01-02T15:04:05"))
	}
	return []pageKind{
		{"overview", always("/")},
		{"overview of a day", always("/?span=day")},
		{"webhooks", always("/webhooks")},
		{"search of webhooks", func() string { return fmt.Sprintf("/webhooks?search=%d", number()) }},
		{"one webhook", func() string { return fmt.Sprintf("/webhooks/webhook.bench.%d", number()) }},
		{"calls", always("/calls")},
		{"calls of a webhook", func() string { return fmt.Sprintf("/calls?eventKey=webhook.bench.%d", number()) }},
		{"calls that were refused", always("/calls?status=rejected")},
		{"calls that failed", always("/calls?status=error")},
		{"calls still at work", always("/calls?status=processing")},
		{"calls before a time", func() string { return "/calls?to=" + lately() }},
		{"calls since a time", func() string { return "/calls?from=" + lately() }},
		{"one call", func() string {
			return "/calls/" + url.PathEscape(found.Items[rand.IntN(len(found.Items))].TraceID)
		}},
		{"pipelines", always("/pipelines")},
		{"one pipeline", always("/pipelines/works")},
		{"runs of a pipeline", always("/calls?pipeline=works")},
		{"commands", always("/commands")},
		{"one command", always("/commands/iam.user.put")},
		{"API reference", always("/reference/iam")},
		{"dead letters", always("/deadletters")},
		{"one dead letter", always("/deadletters/1")},
		{"users", always("/users")},
		{"roles", always("/roles")},
		{"clients", always("/clients")},
		{"audit log", always("/audit")},
	}, nil
}

// visit looks at pages, and adds the slowest and the largest.
func (b *bench) visit(ctx context.Context, a *admin, kinds []pageKind) error {
	if err := a.signIn(ctx); err != nil {
		return err
	}
	const (
		slowestBar = 50 * time.Millisecond
		largestBar = 100_000
	)
	var slowest, largest float64
	var slow, large string
	for _, kind := range kinds {
		var times []float64
		size := 0
		for range portalVisits {
			path := kind.path()
			began := time.Now()
			page, err := a.page(ctx, path)
			if err != nil {
				return err
			}
			times = append(times, time.Since(began).Seconds()*1e3)
			all, err := a.withAssets(ctx, page)
			if err != nil {
				return err
			}
			size = max(size, all)
		}
		middle := median(times)
		progressf("%s: %.1f ms, slowest %.0f ms; %s bytes in all", kind.name, middle, slices.Max(times), grouped(float64(size)))
		if middle > slowest {
			slowest, slow = middle, kind.name
		}
		if float64(size) > largest {
			largest, large = float64(size), kind.name
		}
	}
	b.table.hold(fmt.Sprintf("slowest of %d kinds of pages of the portal, 100,000 webhooks, 1,000,000 calls", len(kinds)), fmt.Sprintf("%s, %.1f ms", slow, slowest), "under 50 ms", slowest < slowestBar.Seconds()*1e3)
	b.table.hold("largest of them, with all that it loads", fmt.Sprintf("%s, %s B", large, grouped(largest)), "under 100 KB", largest < largestBar)
	return nil
}
