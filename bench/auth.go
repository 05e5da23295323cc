package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
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
	guarded, tokens, err := b.startWithWebhooks(ctx, "sluice", 1, groupCommit, "access-ttl=1h",
		"trusted-proxies=127.0.0.1/32")
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
	if err := b.compareScopes(ctx); err != nil {
		return err
	}
	return b.measureFloods(ctx, guarded)
}

// compareCredentials adds the rates with each kind of credentials, compared to calls without any
// to a server that asks for none. The password is one that the server remembers, for 5 minutes:
// the admin has just created a webhook with it.
func (b *bench) compareCredentials(ctx context.Context, guarded *server, plain, calls load) error {
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	form := url.Values{
		"grant_type": {"password"}, "client_id": {"sluice"}, "username": {"admin"}, "password": {adminPassword},
	}
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

// compareScopes measures the cost of authorising on a server with many scoped roles: the same call
// by a user without a scope, and by one with several such roles.
func (b *bench) compareScopes(ctx context.Context) error {
	const roles, of, password = 1000, 20, "a password for the bench"
	s, tokens, err := b.startWithWebhooks(ctx, "sluice-scopes", 1, groupCommit)
	if err != nil {
		return err
	}
	scoped := make([]string, roles)
	for i := range scoped {
		scoped[i] = fmt.Sprintf("team-%d", i)
		if err := s.command(ctx, "iam.role.put", url.Values{
			"role": {scoped[i]}, "like": {"developer"}, "scope": {fmt.Sprintf("team.%d,bench", i)},
		}, nil); err != nil {
			return s.failed(err)
		}
	}
	for name, held := range map[string]string{"whole": "developer", "scoped": strings.Join(scoped[:of], ",")} {
		if err := s.command(ctx, "iam.user.put", url.Values{
			"username": {name}, "password": {password}, "roles": {held},
		}, nil); err != nil {
			return s.failed(err)
		}
		// From then on the server remembers the password.
		if err := s.post(ctx, getPath+tokens[0], basic(name, password), nil, nil); err != nil {
			return s.failed(err)
		}
	}
	calls, err := b.newLoad(s.client, "sluice-scopes", tokens)
	if err != nil {
		return err
	}
	whole := &contender{
		name: "webhook.get, by a user without a scope, 64 connections",
		load: calls.reading(getPath, basic("whole", password)),
	}
	some := &contender{
		name: fmt.Sprintf("webhook.get, by a user with %d of %d roles with scopes, 64 connections", of, roles),
		load: calls.reading(getPath, basic("scoped", password)),
	}
	return b.compare(ctx, []*contender{whole, some}, ratio{
		"webhook.get, with 1,000 roles and scopes to without", some, whole, atLeast(0.95, "0.95"),
	})
}
