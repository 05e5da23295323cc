package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"time"
)

const (
	// portalVisits is how often each kind of page is looked at.
	portalVisits = 41
	// furnished is how many pipelines, users, roles and clients there are, and
	// how many calls start pipelines: more than a page shows.
	furnished = 30
)

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

// furnish makes what lists show beside webhooks and calls: pipelines that work
// and pipelines that fail, with some runs each, and users, roles and clients.
func (a *admin) furnish(ctx context.Context) error {
	for i := range furnished {
		name := fmt.Sprintf("item-%d", i)
		for command, args := range map[string]url.Values{
			"iam.user.put":   {"username": {name}, "roles": {"viewer"}},
			"iam.role.put":   {"role": {name}, "permissions": {"webhook.get"}},
			"iam.client.put": {"clientId": {name}, "roles": {"viewer"}},
		} {
			if err := a.call(ctx, command, args, nil); err != nil {
				return err
			}
		}
		if err := a.store(ctx, name, steps("webhook.item."+name)); err != nil {
			return err
		}
	}
	if err := a.store(ctx, "works", steps("webhook.seldom.*")); err != nil {
		return err
	}
	if err := a.store(ctx, "fails", "pipeline:\n  - event.listen: {eventKey: webhook.seldom.call}\n  - fail: {message: no}\n"); err != nil {
		return err
	}
	var seldom struct {
		UUID string `json:"uuid"`
	}
	if err := a.call(ctx, "webhook.put", url.Values{"eventKey": {"webhook.seldom.call"}}, &seldom); err != nil {
		return err
	}
	for range furnished {
		if err := a.call(ctx, "webhook.receive?token="+seldom.UUID, nil, nil); err != nil {
			return err
		}
		_ = a.call(ctx, "webhook.receive?token=none", nil, nil) // it is refused, and listed
	}
	return nil
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

// signIn signs in to the portal.
func (a *admin) signIn(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	a.client.Jar = jar
	request, err := newForm(ctx, "http://"+a.address+"/signin", url.Values{"username": {"admin"}, "password": {adminPassword}, "next": {"/me"}})
	if err != nil {
		return err
	}
	return exchange(&a.client, request, nil)
}

// page gives the HTML of a page.
func (a *admin) page(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/html")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	content, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || response.Request.URL.Path == "/signin") {
		err = fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return content, err
}

var assetPaths = regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)

// withAssets gives the size of a page together with all that it loads.
func (a *admin) withAssets(ctx context.Context, page []byte) (int, error) {
	size := len(page)
	for _, path := range assetPaths.FindAllSubmatch(page, -1) {
		asset, err := a.page(ctx, string(path[1]))
		if err != nil {
			return 0, err
		}
		size += len(asset)
	}
	return size, nil
}
