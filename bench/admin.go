package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An admin calls commands of a server.
type admin struct {
	address string
	client  http.Client
}

// writers is how many things are created at the same time.
const writers = 64

// newAdmin waits until the server knows its admin, which it creates once it is
// ready.
func newAdmin(ctx context.Context, s *server) (*admin, error) {
	a := &admin{
		address: s.address,
		client:  http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}, Timeout: 30 * time.Second},
	}
	var err error
	for range 100 {
		if err = a.call(ctx, "webhook.get", url.Values{"limit": {"1"}}, nil); err == nil {
			return a, nil
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil, s.failed(err)
}

// call calls a command and decodes what it answers.
func (a *admin) call(ctx context.Context, name string, args url.Values, into any) error {
	request, err := newForm(ctx, "http://"+a.address+"/api/v3/command/"+name, args)
	if err != nil {
		return err
	}
	request.SetBasicAuth("admin", adminPassword)
	return exchange(&a.client, request, into)
}

// createWebhooks creates webhooks over HTTP and gives their tokens.
func createWebhooks(ctx context.Context, s *server, n int) ([]string, error) {
	a, err := newAdmin(ctx, s)
	if err != nil {
		return nil, err
	}
	defer a.client.CloseIdleConnections()
	tokens := make([]string, n)
	return tokens, inParallel(ctx, n, func(ctx context.Context, i int) (err error) {
		tokens[i], err = a.put(ctx, i)
		if i > 0 && i%20_000 == 0 {
			progressf("%s of %s webhooks created", grouped(float64(i)), grouped(float64(n)))
		}
		return err
	})
}

// inParallel does something n times, several at the same time, until one fails.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(writers, n) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// put creates the webhook of that number and gives its token.
func (a *admin) put(ctx context.Context, number int) (string, error) {
	var created struct {
		UUID string `json:"uuid"`
	}
	err := a.call(ctx, "webhook.put", url.Values{"eventKey": {fmt.Sprintf("webhook.bench.%d", number)}}, &created)
	return created.UUID, err
}

// store stores a pipeline.
func (a *admin) store(ctx context.Context, name, source string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+a.address+"/api/v3/pipeline/"+name, strings.NewReader(source))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/yaml")
	request.SetBasicAuth("admin", adminPassword)
	return exchange(&a.client, request, nil)
}
