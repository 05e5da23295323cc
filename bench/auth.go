package main

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
)

const (
	// getPath is where a webhook is read, up to its token.
	getPath = "/api/v3/command/webhook.get?uuid="

	// tokenPath is where passwords are exchanged for tokens.
	tokenPath = "/auth/realms/default/protocol/openid-connect/token"
)

// measureAuth compares calls with each kind of credentials to the same call on
// a server with authentication switched off, then floods the server with wrong
// passwords.
func measureAuth(ctx context.Context, b *bench) error {
	plain, _, err := b.startReader(ctx, "sluice-no-auth", noAuth)
	if err != nil {
		return err
	}
	// Tokens outlive the bursts. The bench passes for a proxy, so that the
	// flood can come from many addresses.
	guarded, s, err := b.startReader(ctx, "sluice", groupCommit, "access-ttl=1h", "trusted-proxies=127.0.0.1/32")
	if err != nil {
		return err
	}
	if err := b.compareCredentials(ctx, plain, guarded); err != nil {
		return err
	}
	return b.measureFloods(ctx, s)
}

// startReader starts a server with one webhook and gives the load that reads it.
func (b *bench) startReader(ctx context.Context, name, mode string, settings ...string) (load, *server, error) {
	s, err := b.startSluice(ctx, name, mode, settings...)
	if err != nil {
		return load{}, nil, err
	}
	tokens, err := createWebhooks(ctx, s, 1)
	if err != nil {
		return load{}, nil, err
	}
	file, err := b.tokenFile(name, tokens)
	return load{address: s.address, path: getPath, tokens: file, connections: 64}, s, err
}

// compareCredentials adds the rates with each kind of credentials, and how they
// compare to that of calls which carry none to a server that asks for none.
func (b *bench) compareCredentials(ctx context.Context, plain, guarded load) error {
	headers, err := authorizations(ctx, guarded.address)
	if err != nil {
		return err
	}
	contenders := []*contender{{name: "no authentication", load: plain}}
	for _, h := range headers {
		guarded.authorization = h.value
		contenders = append(contenders, &contender{name: h.name, load: guarded})
	}
	if err := b.race(ctx, contenders...); err != nil {
		return err
	}
	for _, c := range contenders {
		b.table.add("webhook.get, "+c.name+", 64 connections", c.String())
	}
	for _, c := range contenders[1:] {
		middle, least, most := ratios(c, contenders[0])
		b.table.hold("webhook.get, "+c.name+" to no authentication", span(middle, least, most), "at least 0.70", middle >= 0.70)
	}
	return nil
}

// A header is the value of an Authorization header and what to call it.
type header struct{ name, value string }

// authorizations gives the admin's headers. The password is one that the server
// remembers, for 5 minutes: the admin has just created a webhook with it.
func authorizations(ctx context.Context, address string) ([]header, error) {
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := login(ctx, address, &tokens); err != nil {
		return nil, err
	}
	return []header{
		{"Basic (remembered)", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+adminPassword))},
		{"Bearer", "Bearer " + tokens.Access},
		{"Refresh", "Refresh " + tokens.Refresh},
	}, nil
}

// login exchanges the admin's password for tokens.
func login(ctx context.Context, address string, tokens any) error {
	form := url.Values{"grant_type": {"password"}, "client_id": {"sluice"}, "username": {"admin"}, "password": {adminPassword}}
	request, err := newForm(ctx, "http://"+address+tokenPath, form)
	if err != nil {
		return err
	}
	request.Close = true
	return exchange(http.DefaultClient, request, tokens)
}
