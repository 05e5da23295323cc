package main

import (
	"context"
	"net/url"
)

// measureAuth compares calls with each kind of credentials to the same call on
// a server with authentication switched off, then floods the server with wrong
// passwords.
func measureAuth(ctx context.Context, b *bench) error {
	open, openTokens, err := b.startWithWebhooks(ctx, "sluice-no-auth", 1, noAuth)
	if err != nil {
		return err
	}
	// Tokens outlive the bursts. The bench passes for a proxy, so that the
	// flood can come from many addresses.
	guarded, tokens, err := b.startWithWebhooks(ctx, "sluice", 1, groupCommit, "access-ttl=1h", "trusted-proxies=127.0.0.1/32")
	if err != nil {
		return err
	}
	plain, err := b.newLoad(open.client, "sluice-no-auth", openTokens)
	if err != nil {
		return err
	}
	calls, err := b.newLoad(guarded.client, "sluice", tokens)
	if err != nil {
		return err
	}
	if err := b.compareCredentials(ctx, guarded, plain, calls); err != nil {
		return err
	}
	return b.measureFloods(ctx, guarded)
}

// compareCredentials adds the rates with each kind of credentials, and how they
// compare to that of calls which carry none to a server that asks for none. The
// password is one that the server remembers, for 5 minutes: the admin has just
// created a webhook with it.
func (b *bench) compareCredentials(ctx context.Context, guarded *server, plain, calls load) error {
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	form := url.Values{"grant_type": {"password"}, "client_id": {"sluice"}, "username": {"admin"}, "password": {adminPassword}}
	if err := guarded.post(ctx, tokenPath, "", form, &tokens); err != nil {
		return err
	}
	credentials := []struct{ name, authorization string }{
		{"webhook.get, Basic (remembered)", asAdmin},
		{"webhook.get, Bearer", "Bearer " + tokens.Access},
		{"webhook.get, Refresh", "Refresh " + tokens.Refresh},
	}
	none := &contender{name: "webhook.get, no authentication, 64 connections", load: plain.reading(getPath, "")}
	contenders, ratios := []*contender{none}, make([]ratio, len(credentials))
	for i, kind := range credentials {
		c := &contender{name: kind.name + ", 64 connections", load: calls.reading(getPath, kind.authorization)}
		contenders = append(contenders, c)
		ratios[i] = ratio{kind.name + " to no authentication", c, none, atLeast(0.70, "0.70")}
	}
	return b.compare(ctx, contenders, ratios...)
}
