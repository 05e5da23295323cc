package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice"
)

// costlyChecks are schemas, and bodies that take long to check against them where nothing
// counts the comparisons.
var costlyChecks = []struct{ schema, body string }{
	{`{"items":{"enum":[` + numbers(1000) + `]}}`, "[" + repeated("0.5", 100_000) + "]"},
	{`{"items":{"const":[` + numbers(1000) + `,0]}}`, "[" + repeated("["+numbers(1000)+",1]", 100) + "]"},
	{`{"uniqueItems":true}`, "[" + numbers(60_000) + "]"},
	{`{"items":{"pattern":"^(a?){200}b$"}}`, "[" + repeated(`"`+strings.Repeat("a", 1000)+`"`, 500) + "]"},
}

// numbers returns the first numbers, as the items of a JSON list.
func numbers(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "%d.25,", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func repeated(item string, count int) string {
	return strings.TrimSuffix(strings.Repeat(item+",", count), ",")
}

// costlySchemas are bodies that compare much with the schemas of their webhooks. Each must be
// answered in time.
func costlySchemas(ctx context.Context, t *target, d *damage) {
	const senders, patience = 8, 20 * time.Second
	d.begin()
	together(senders, func(i int) {
		for n := i; ctx.Err() == nil; n++ {
			check, body := n%len(costlyChecks), []byte(costlyChecks[n%len(costlyChecks)].body)
			answered, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			t.post(answered, d, receivePath, "application/json", body, "Token", t.schemas[check])
			if answered.Err() != nil {
				d.open.Add(1)
			}
			cancel()
		}
	})
}

// computing is a pipeline that computes all the time.
const computing = `{"pipeline":[{"foreach":{"in":"#{1..1000}","do":[{"set":{"value":` +
	`"#{count(1..700, let x = #; count(1..700, # * x % 7 == 3) > 0)}"}}]}}]}`

// computingRuns are as many of that as a user may have.
func computingRuns(ctx context.Context, t *target, d *damage) {
	const callers, begun = 300, 5 * time.Second
	time.AfterFunc(begun, d.begin)
	together(callers, func(int) {
		for ctx.Err() == nil {
			t.asUser(ctx, d, "/api/v3/pipeline", computing)
			sleep(ctx, pause)
		}
	})
}

// hungryConversions are texts that their parsers make a hundred times as large, converted by a
// user who may have many calls at a time.
func hungryConversions(ctx context.Context, t *target, d *damage) {
	const callers, size = 32, 1_000_000
	var bodies []string
	for _, c := range []struct{ format, item string }{
		{"Yaml", "[],"}, {"Xml", "<a/>"}, {"Csv", "a,"}, {"Yaml", "a: {},"},
	} {
		text := strings.Repeat(c.item, size/len(c.item))
		switch c.format {
		case "Yaml":
			text = "[" + text + "]"
		case "Xml":
			text = "<a>" + text + "</a>"
		}
		params := `{"input":` + strconv.Quote(text) + `}` // plain text, so it is JSON as well
		bodies = append(bodies, c.format, params)
	}
	d.begin()
	together(callers, func(i int) {
		for n := i; ctx.Err() == nil; n++ {
			which := n % (len(bodies) / 2) * 2
			t.asUser(ctx, d, "/api/v3/command/convert.from"+bodies[which], bodies[which+1])
		}
	})
}

// asUser posts a document as a user, and leaves the answer unread.
func (t *target) asUser(ctx context.Context, d *damage, path, body string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.url+path, strings.NewReader(body))
	if err != nil {
		return
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if answer, err := t.client.http.Do(r); err == nil {
		answer.Body.Close()
		d.count(answer.StatusCode)
	}
}

// growingAnswers are small texts whose answers are thousands of times as large: what is unpacked
// of them is written as six characters for each byte.
func growingAnswers(ctx context.Context, t *target, d *damage) {
	const callers, size = 48, 8_000_000
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, size)) // to memory
	_ = w.Close()
	body := `{"input":"` + base64.StdEncoding.EncodeToString(packed.Bytes()) + `"}`
	d.begin()
	together(callers, func(int) {
		for ctx.Err() == nil {
			t.asUser(ctx, d, "/api/v3/command/convert.fromGzip", body)
		}
	})
}

// batchesOfAgents are requests that stand for ten thousand each.
func batchesOfAgents(ctx context.Context, t *target, d *damage) {
	const callers, messages = 3, 10_000
	const message = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"sluice://docs/providers.md"}}`
	body := "[" + repeated(message, messages) + "]"
	d.begin()
	together(callers, func(int) {
		for ctx.Err() == nil {
			t.asUser(ctx, d, "/mcp", body)
		}
	})
}

// swollenAPI is the API of a sender that answers with 8 KB, which unpack to 8 MB of empty objects.
var swollenAPI = sync.OnceValue(func() *httptest.Server {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, "["+repeated("{}", 2_700_000)+"]") // to memory
	_ = w.Close()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
})

// swollenAnswers are those of a sender's API that is asked what was missed.
func swollenAnswers(ctx context.Context, t *target, d *damage) {
	const callers = 8
	d.begin()
	together(callers, func(int) {
		for ctx.Err() == nil {
			t.asUser(ctx, d, "/api/v3/command/webhook.missed", `{"eventKey":"webhook.missed"}`)
		}
	})
}

// hangingKeys is where a sender's keys should be: connections are taken there, and nothing is ever said.
var hangingKeys = sync.OnceValue(func() string {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections
	if err != nil {
		return ""
	}
	return "https://" + l.Addr().String() + "/keys"
})

// missingKeys are calls whose signature can't be checked before the keys of their sender are known: more
// of them than calls may be in progress, each with a connection of its own.
func missingKeys(ctx context.Context, t *target, d *damage) {
	const callers = 4500
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":99999999999}`))
	d.begin()
	together(callers, func(i int) {
		head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"` + strconv.Itoa(i) + `"}`))
		request := "POST " + receivePath + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nToken: " + t.hangs +
			"\r\nAuthorization: Bearer " + head + "." + claims + "." + strings.Repeat("A", 342) +
			"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
		for ctx.Err() == nil {
			t.ask(ctx, d, i, request)
		}
	})
}

// ask sends a request over a new connection, and waits for the answer.
func (t *target) ask(ctx context.Context, d *damage, i int, request string) {
	c, err := t.dial(i)
	if err != nil {
		sleep(ctx, pause)
		return
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer func() { _ = c.Close() }() // all that was asked is answered
	if _, err := io.WriteString(c, request); err != nil {
		return
	}
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		d.count(answer.StatusCode)
		answer.Body.Close()
	}
}

// longLists are all webhooks, of which there are many, as many viewers ask for them at the same time.
func longLists(ctx context.Context, t *target, d *damage) {
	const webhooks, callers = 6000, 150
	text := strings.Repeat("d", 1000)
	together(64, func(i int) {
		for n := i; n < webhooks && ctx.Err() == nil; n += 64 {
			t.asUser(ctx, d, "/api/v3/command/webhook.put",
				`{"eventKey":"webhook.many.n`+strconv.Itoa(n)+`","description":"`+text+`"}`)
		}
	})
	d.begin()
	together(callers, func(int) {
		for ctx.Err() == nil {
			t.asUser(ctx, d, "/api/v3/command/webhook.get", "{}")
		}
	})
}
