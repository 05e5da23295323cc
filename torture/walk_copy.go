package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/config"
	"sluice/serve"
)

// copiedEvery is in how many settled moments one copy is made and compared.
const copiedEvery = 3

// checkCopy: a server that is restored from a backup says the same as the one it is a copy of, of a
// moment in which nothing happens.
func (w *walk) checkCopy(ctx context.Context) {
	w.copies++
	here, err := w.account(ctx, w.client())
	if err == nil {
		var there []string
		if there, err = w.restored(ctx); err == nil {
			w.compare("the server", here, "the restored copy", there)
		}
	}
	if err != nil && ctx.Err() == nil {
		w.blamef("a backup can't be made, or restored: %s", err)
	}
}

// agree waits until all nodes give the same account.
func (w *walk) agree(ctx context.Context) bool {
	accounts := make([][]string, len(w.nodes))
	for until := time.Now().Add(agreeTime); ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
		var failed error
		for i, n := range w.nodes {
			var err error
			accounts[i], err = w.account(ctx, n.client)
			failed = errors.Join(failed, err)
		}
		same := failed == nil
		for _, account := range accounts[1:] {
			same = same && slices.Equal(accounts[0], account)
		}
		if same {
			return true
		}
		if time.Now().After(until) {
			if failed != nil {
				w.blamef("a node gives no account: %s", failed)
			}
			for i, account := range accounts[1:] {
				w.compare("the first node", accounts[0], fmt.Sprint("node ", i+2), account)
			}
			return false
		}
	}
	return false
}

// compare tells what only one of two accounts has.
func (w *walk) compare(name string, here []string, other string, there []string) {
	for _, side := range []struct {
		name     string
		all, not []string
	}{{name, here, there}, {other, there, here}} {
		for _, line := range side.all {
			if !slices.Contains(side.not, line) {
				w.blamef("only %s has: %s", side.name, line)
			}
		}
	}
}

// restored backs the server up, and returns the account of what was restored.
func (w *walk) restored(ctx context.Context) (account []string, err error) {
	dir, err := os.MkdirTemp(w.dir, "copy-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := os.Create(filepath.Join(dir, "backup"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := w.backUp(ctx, file); err != nil {
		return nil, err
	}
	data, set := filepath.Join(dir, "data"), map[string]string{}
	options := []string{restartPart, data, "result-ttl=24h"}
	if w.engine != nil { // its key lies outside
		set["secret-key"] = secret
		options = append(options, "secret-key="+secret)
	}
	set["data"] = data
	cfg, err := config.Load("", nil, set)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	how := serve.RestoreOptions{Paused: true, Log: log, Progress: func(int64, int64) {}}
	if _, err := serve.Restore(ctx, cfg, file, how); err != nil {
		return nil, err
	}
	s, err := launchPart(options...)
	if err != nil {
		return nil, err
	}
	defer s.kill()
	banner, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, s.out) }()
	_, rest, _ := strings.Cut(banner, "listens on ")
	c := newClient(strings.Fields(rest + " ?")[0], 1)
	defer c.close()
	return w.account(ctx, c)
}

func (w *walk) backUp(ctx context.Context, to io.Writer) error {
	at := w.client()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.url+"/api/v3/command/server.backup", http.NoBody)
	if err != nil {
		return err
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	answer, err := at.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("server.backup: %s", answer.Status)
	}
	_, err = io.Copy(to, answer.Body)
	return err
}

// account is what a server says of its calls, webhooks, dead letters and roles.
func (w *walk) account(ctx context.Context, c *client) (lines []string, err error) {
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, kind := range kindsOfWalk {
		hook := w.hooks[kind.name]
		calls, err := pages[sluice.Call](ctx, c, "trace.get", map[string]any{"eventKey": hook.eventKey})
		if err != nil {
			return nil, err
		}
		for _, call := range calls {
			line("call %s of %s: %s, erased: %t, %d runs", call.TraceID, call.EventKey, call.Status, call.Erased,
				len(call.Runs))
		}
		var view sluice.WebhookView
		if err := c.command(ctx, "webhook.get", map[string]any{"uuid": hook.uuid}, &view); err != nil {
			return nil, err
		}
		line("webhook %s: %q, %d tokens", view.EventKey, view.Description, len(view.Tokens))
	}
	letters, err := pages[sluice.DeadLetter](ctx, c, "deadletter.get", map[string]any{})
	if err != nil {
		return nil, err
	}
	for _, letter := range letters {
		line("dead letter %s of %s", letter.TraceID, letter.Pipeline)
	}
	for _, role := range w.roles {
		var found struct{ Permissions, Scope []string }
		if err := c.command(ctx, "iam.role.get", map[string]any{"role": role}, &found); err != nil {
			return nil, err
		}
		line("role %s: %v %v", role, found.Permissions, found.Scope)
	}
	return lines, nil
}

// pages returns all items of a list.
func pages[T any](ctx context.Context, c *client, name string, params map[string]any) (all []T, err error) {
	params["limit"] = 1000
	for {
		var page sluice.List[T]
		if err := c.command(ctx, name, params, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		params["after"] = page.Next
	}
}
