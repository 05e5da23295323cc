package main

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// portalVisits is how often each kind of page is looked at.
const portalVisits = 41

// pages are the kinds of pages. {webhook}, {call} and {time} stand for another
// one at each visit.
var pages = []struct{ name, path string }{
	{"overview", "/"},
	{"overview of a day", "/?span=day"},
	{"webhooks", "/webhooks"},
	{"search of webhooks", "/webhooks?search={webhook}"},
	{"one webhook", "/webhooks/webhook.bench.{webhook}"},
	{"calls", "/calls"},
	{"calls of a webhook", "/calls?eventKey=webhook.bench.{webhook}"},
	{"calls that were refused", "/calls?status=rejected"},
	{"calls that failed", "/calls?status=error"},
	{"calls still at work", "/calls?status=processing"},
	{"calls before a time", "/calls?to={time}"},
	{"calls since a time", "/calls?from={time}"},
	{"one call", "/calls/{call}"},
	{"pipelines", "/pipelines"},
	{"one pipeline", "/pipelines/works"},
	{"runs of a pipeline", "/calls?pipeline=works"},
	{"commands", "/commands"},
	{"one command", "/commands/iam.user.put"},
	{"API reference", "/reference/iam"},
	{"quarantine", "/quarantine"},
	{"secrets", "/secrets"},
	{"dead letters", "/deadletters"},
	{"one dead letter", "/deadletters/1"},
	{"users", "/users"},
	{"roles", "/roles"},
	{"clients", "/clients"},
	{"audit log", "/audit"},
}

// measurePortal measures the pages that people look at, among many webhooks and
// calls, and adds the slowest and the largest. The runs of the pipelines lie
// behind all other calls, so that to find them takes the longest.
func measurePortal(ctx context.Context, b *bench) error {
	s, _, err := b.restartFull(ctx, manyWebhooks, seedPortal)
	if err != nil {
		return err
	}
	ids, err := s.traceIDs(ctx, url.Values{"limit": {"1000"}})
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/signin", "", url.Values{
		"username": {"admin"}, "password": {adminPassword}, "next": {"/me"},
	}, nil); err != nil {
		return err
	}
	var slowest, largest float64
	var slow, large string
	for _, p := range pages {
		took, size, err := s.visit(ctx, p.path, ids)
		if err != nil {
			return err
		}
		middle := median(took)
		progressf("%s: %.1f ms, slowest %.0f ms; %s bytes in all", p.name, middle, slices.Max(took), grouped(size))
		if middle > slowest {
			slowest, slow = middle, p.name
		}
		if size > largest {
			largest, large = size, p.name
		}
	}
	b.table.hold(fmt.Sprintf("slowest of %d kinds of pages of the portal, 100,000 webhooks, 1,000,000 calls",
		len(pages)),
		fmt.Sprintf("%s, %.1f ms", slow, slowest), slowest, under(50, "50 ms"))
	step, steps, err := s.searchPayloads(ctx)
	if err != nil {
		return err
	}
	b.table.hold("search in the payloads of the last hour: slowest step, each of which says how far it has come",
		fmt.Sprintf("%.0f ms, of %d steps", step, steps), step, under(1000, "1 s"))
	b.table.hold("largest of them as transferred, with all that it loads",
		fmt.Sprintf("%s, %s B", large, grouped(largest)), largest, under(100_000, "100 KB"))
	return nil
}

// searchPayloads looks for a text that no payload of the last hour has, step by
// step as the page does, and returns the time of the slowest step.
func (c *client) searchPayloads(ctx context.Context) (slowest float64, steps int, err error) {
	const most = 100
	hourAgo := time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05")
	path := "/calls?" + url.Values{"search": {"no payload has this"}, "payloads": {"yes"}, "from": {hourAgo}}.Encode()
	for path != "" && steps < most {
		began := time.Now()
		content, err := c.page(ctx, path)
		if err != nil {
			return 0, 0, err
		}
		slowest, steps, path = max(slowest, milliseconds(began)), steps+1, ""
		if next := nextPath.FindSubmatch(content); next != nil {
			path = html.UnescapeString(string(next[1]))
		}
	}
	progressf("search in payloads: %d steps, slowest %.0f ms", steps, slowest)
	return slowest, steps, nil
}

var nextPath = regexp.MustCompile(`href="([^"]+)" rel="next"`)

// visit looks at pages of one kind, and returns the times that they took and
// the size of the largest, together with all that it loads.
func (c *client) visit(ctx context.Context, path string, traceIDs []string) (took []float64, size float64, err error) {
	for range portalVisits {
		ago := time.Duration(rand.IntN(60)) * time.Second
		target := strings.NewReplacer(
			"{webhook}", strconv.Itoa(rand.IntN(manyWebhooks)),
			"{call}", url.PathEscape(traceIDs[rand.IntN(len(traceIDs))]),
			"{time}", url.QueryEscape(time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05")),
		).Replace(path)
		began := time.Now()
		content, err := c.page(ctx, target)
		if err != nil {
			return nil, 0, err
		}
		took = append(took, milliseconds(began))
		all, err := c.transferred(ctx, target, content)
		if err != nil {
			return nil, 0, err
		}
		size = max(size, float64(all))
	}
	return took, size, nil
}

// page returns the HTML of a page.
func (c *client) page(ctx context.Context, path string) ([]byte, error) {
	in, err := c.send(ctx, httpRequest{path: path, header: map[string]string{"Accept": "text/html"}})
	if err == nil && in.path == "/signin" {
		err = fmt.Errorf("GET %s: not signed in", path)
	}
	return in.content, err
}

var assetPaths = regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)

// transferred returns how many bytes a browser gets for a page, together with all
// that it loads.
func (c *client) transferred(ctx context.Context, path string, page []byte) (size int, err error) {
	paths := []string{path}
	for _, asset := range assetPaths.FindAllSubmatch(page, -1) {
		paths = append(paths, string(asset[1]))
	}
	for _, path := range paths {
		in, err := c.send(ctx, httpRequest{
			path: path, header: map[string]string{"Accept": "text/html", "Accept-Encoding": "gzip"},
		})
		if err != nil {
			return 0, err
		}
		size += len(in.content)
	}
	return size, nil
}
