package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
)

// measureSenders compares calls of webhooks that demand something of their calls
// with plain ones, on the same server, and plain ones of a server that seals events.
func measureSenders(ctx context.Context, b *bench) error {
	const secret = "It's a Secret to Everybody"
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(bodyOf(bodySize)))
	s, plain, err := b.startWithWebhooks(ctx, "senders", 1, groupCommit)
	if err != nil {
		return err
	}
	bare := &contender{name: "plain calls"}
	if bare.load, err = b.newLoad(s.client, "plain", plain); err != nil {
		return err
	}
	contenders := []*contender{bare}
	var ratios []ratio
	for i, with := range []struct {
		name    string
		params  url.Values
		header  string
		id      bool
		atLeast float64
	}{
		{"with a GitHub signature", url.Values{
			"provider": {"github"}, "signingSecret": {secret},
		}, "X-Hub-Signature-256: sha256=" + hex.EncodeToString(mac.Sum(nil)), false, 0.85},
		{"with dedupe", url.Values{"dedupe": {"query:id"}}, "", true, 0.85},
		{"with a 2 KB schema", url.Values{"schema": {schemaOf(2 << 10)}}, "", false, 0.70},
		{"with a type from a header", url.Values{"eventType": {"header:X-Kind"}}, "X-Kind: push", false, 0.98},
		{"with a type from a JSON body", url.Values{"eventType": {"body:number"}}, "", false, 0.90},
		{"with redact of three members", url.Values{
			"payloadType": {"raw"}, "redact": {"payload.data,payload.number,headers.user-agent"},
		}, "", false, 0.85},
	} {
		with.params.Set("eventKey", benchKey(1000+i))
		token, err := s.createWebhookWith(ctx, with.params)
		if err != nil {
			return err
		}
		if with.id {
			token += "&id="
		}
		c := &contender{name: "calls " + with.name}
		if c.load, err = b.newLoad(s.client, fmt.Sprint("senders-", i), []string{token}); err != nil {
			return err
		}
		c.load.header = with.header
		contenders = append(contenders, c)
		ratios = append(ratios, ratio{
			"receive " + with.name + ", to without", c, bare, atLeast(with.atLeast, fmt.Sprintf("%.2f", with.atLeast)),
		})
	}
	other, tokens, err := b.startWithWebhooks(ctx, "sealed", 1, groupCommit, "seal-events=true")
	if err != nil {
		return err
	}
	sealed := &contender{name: "calls with sealed events"}
	if sealed.load, err = b.newLoad(other.client, "sealed-tokens", tokens); err != nil {
		return err
	}
	ratios = append(ratios, ratio{"receive with --seal-events, to without", sealed, bare, atLeast(0.90, "0.90")})
	if err := b.compare(ctx, append(contenders, sealed), ratios...); err != nil {
		return err
	}
	return b.compareBatches(ctx, s.client)
}

// compareBatches compares a call that brings 100 events with 100 calls, one after the other, as from a sender
// that waits for each answer.
func (b *bench) compareBatches(ctx context.Context, c *client) error {
	const items = 100
	token, err := c.createWebhookWith(ctx, url.Values{
		"eventKey": {benchKey(2000)}, "payloadType": {"raw"}, "split": {"payload"},
	})
	if err != nil {
		return err
	}
	item := `{"email":"ada@example.com","event":"delivered","timestamp":1893456000}`
	calling := func(name string, times int, body string) *effort {
		return &effort{contender: contender{name: name}, times: times, parallel: 1, do: func(ctx context.Context) error {
			_, err := c.send(ctx, httpRequest{
				path: receivePath + token, body: body, header: map[string]string{"Content-Type": "application/json"},
			})
			return err
		}}
	}
	one := calling("events of calls that bring one", 1, item)
	many := calling("events of calls that bring 100", items, "["+strings.Repeat(item+",", items-1)+item+"]")
	return b.contest(ctx, "events in one call of 100 items, to 100 calls", one, many, 20)
}

// schemaOf returns a schema of about that size, which the bodies of calls meet.
func schemaOf(size int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","required":["data","number"],"properties":{"data":{"type":"string","minLength":1},"number":{"type":"integer","minimum":0}`)
	for i := 0; b.Len() < size-3; i++ {
		fmt.Fprintf(&b, `,"member%d":{"type":["string","null"],"maxLength":200,"pattern":"^[a-z]*$"}`, i)
	}
	return b.String() + `}}`
}
