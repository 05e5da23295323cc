package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"sluice"
)

// writeTimeout is that of a besieged server, shorter than the default: an attack
// has to see connections end.
const writeTimeout = time.Second

const mebibyte = 1 << 20

// everythingAtOnce is the attack of the negative control without bounds on memory.
const everythingAtOnce = "everything at once"

// attacks lists all attacks.
var attacks = []attack{
	{name: "slow senders", run: slowSenders, bar: bar{}},
	{name: "unfinished bodies", run: unfinishedBodies, bar: bar{slower: 2}},
	{name: "hungry forms", run: hungryBodies("application/x-www-form-urlencoded", "&", ""), bar: little, alone: true},
	{name: "hungry forms of names", run: hungryBodies("application/x-www-form-urlencoded", "a&", ""), bar: little,
		alone: true},
	{name: "hungry JSON", run: hungryBodies("application/json", `"tokenlike":"",`, "{"), bar: little, alone: true},
	{name: "hungry multipart", run: hungryBodies("multipart/form-data; boundary=b",
		"--b\r\nContent-Disposition: form-data; name=token\r\n\r\n\r\n", ""), bar: little, alone: true},
	{name: "hungry queries", run: hungryQueries, bar: little, alone: true},
	{name: "clients that never read", run: neverReading, bar: bar{ends: true}, bare: true},
	{name: "strangers who never read", run: unreadDocuments, bar: bar{ends: true}, bare: true},
	{name: "strangers who call and never read", run: unreadRefusals, bar: bar{}},
	{name: "computing runs", run: computingRuns, bar: bar{slower: 100}, bare: true},
	{name: "hungry runs", run: hungryRuns, bar: bar{refused: -1, brakes: true}},
	{name: "large events", run: largeEvents, bar: bar{refused: -1}},
	{name: "large values", run: largeValues, bar: bar{refused: -1}},
	{name: "hungry checks", run: hungryChecks, bar: bar{refused: -1}},
	{name: "costly checks", run: costlySchemas, bar: bar{refused: -1, ends: true}, bare: true},
	{name: "hungry conversions", run: hungryConversions, bar: bar{refused: -1, brakes: true}, bare: true},
	{name: "growing answers", run: growingAnswers, bar: bar{refused: -1, brakes: true}},
	{name: "batches of agents", run: batchesOfAgents, bar: bar{refused: -1}},
	{name: "many header fields", run: manyFields, bar: bar{}, bare: true},
	{name: "many header fields aside", run: manyFieldsAside, bar: bar{}},
	{name: "answers of a sender", run: swollenAnswers, bar: bar{refused: -1}},
	{name: "keys that never come", run: missingKeys, bar: bar{brakes: true}},
	{name: "long lists", run: longLists, bar: bar{refused: -1}},
	{name: "large headers", run: largeHeaders, bar: bar{}},
	{name: "unread streams", run: unreadStreams, bar: bar{}, secure: true, bare: true},
	{name: "streams of headers", run: headerStreams, bar: bar{}, secure: true, bare: true},
	{name: "streams that are reset", run: resetStreams, bar: bar{refused: -1}, secure: true},
	{name: everythingAtOnce, run: everything, bar: bar{refused: -1, brakes: true}},
}

// little is what four bodies may do together.
var little = bar{rise: 64 * mebibyte}

// together does something many times at once, until all have ended.
func together(count int, do func(i int)) {
	var work sync.WaitGroup
	for i := range count {
		work.Go(func() { do(i) })
	}
	work.Wait()
}

// anybody is the TLS of clients that trust anybody.
var anybody = &tls.Config{InsecureSkipVerify: true}

// dial connects from one of many addresses of this machine, with TLS where the server
// has it.
func (t *target) dial(i int, protocols ...string) (net.Conn, error) {
	scheme, address, _ := strings.Cut(t.client.url, "://")
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%8))}
	c, err := (&net.Dialer{LocalAddr: from, Timeout: time.Second}).Dial("tcp", address)
	if err != nil || scheme != "https" {
		return c, err
	}
	const patience = 10 * time.Second
	config := anybody.Clone()
	config.NextProtos = protocols
	secure := tls.Client(c, config)
	_ = c.SetDeadline(time.Now().Add(patience))
	if err := secure.Handshake(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return secure, c.SetDeadline(time.Time{})
}

// readLittle lets the kernel take little of what a server sends.
func readLittle(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
}

// slowSenders send most of a large body at once and then hardly anything, with a
// token and without: just fast enough to be allowed, and with more memory than all
// have together.
func slowSenders(ctx context.Context, t *target, d *damage) {
	const senders = 80
	d.begin()
	together(senders, func(i int) {
		for ctx.Err() == nil {
			c, err := t.dial(i)
			if err != nil {
				return
			}
			token := ""
			if i%2 == 0 {
				token = "Token: " + t.good + "\r\n"
			}
			_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n", receivePath,
				token)
			if err == nil {
				_, err = fmt.Fprintf(c, "380000\r\n%s\r\n", strings.Repeat("x", 0x380000))
			}
			for err == nil && ctx.Err() == nil {
				_, err = fmt.Fprintf(c, "800\r\n%s\r\n", strings.Repeat("x", 0x800))
				sleep(ctx, time.Second)
			}
			d.refused(c)
			_ = c.Close()
			sleep(ctx, time.Second)
		}
	})
}

// refused counts what a server has said by now, if it is a refusal.
func (d *damage) refused(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		d.count(answer.StatusCode)
		answer.Body.Close()
	}
}

// begin says that good callers are to be measured from now on.
func (d *damage) begin() { d.once.Do(func() { close(d.inPlace) }) }

func (d *damage) count(status int) {
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		d.refusals.Add(1)
	}
}

// unfinishedBodies open connections, announce a body, and send little of it.
func unfinishedBodies(ctx context.Context, t *target, d *damage) {
	const sockets, openers = 5000, 20
	var mu sync.Mutex
	var open []net.Conn
	together(openers, func(opener int) {
		for i := opener; i < sockets && ctx.Err() == nil; i += openers {
			c, err := t.dial(i)
			if err != nil {
				continue
			}
			_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\nx", receivePath)
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
	})
	d.begin()
	<-ctx.Done()
	for _, c := range open {
		_ = c.Close()
	}
}

// hungryBodies are four of strangers, full of what may hold a token.
func hungryBodies(contentType, repeated, first string) func(context.Context, *target, *damage) {
	return func(ctx context.Context, t *target, d *damage) {
		body := []byte(first + strings.Repeat(repeated, (sluice.MaxPayloadLength-len(first))/len(repeated)))
		if contentType == "application/json" {
			body[len(body)-1] = '}'
		}
		together(4, func(int) { t.post(ctx, d, receivePath, contentType, body) })
	}
}

func hungryQueries(ctx context.Context, t *target, d *damage) {
	query := receivePath + "?" + strings.Repeat("a&", 13_000)
	together(4, func(int) { t.post(ctx, d, query, "text/plain", nil) })
}

// post sends a body as a stranger does.
func (t *target) post(ctx context.Context, d *damage, path, contentType string, body []byte, headers ...string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.url+path, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := t.client.http.Do(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	d.count(answer.StatusCode)
}

// neverReading clients ask for large results, or make calls that have one, and never
// read them.
func neverReading(ctx context.Context, t *target, d *damage) {
	result := "GET /api/v3/result?svc-result-correlationid=" + t.large + " HTTP/1.1\r\nHost: x\r\n\r\n"
	call := "POST " + receivePath + "?large=1 HTTP/1.1\r\nHost: x\r\nToken: " + t.good + "\r\nContent-Length: 0\r\n\r\n"
	t.unread(ctx, d, 200, result, call)
}

// unreadDocuments are what strangers may see, and don't read, many requests at once.
func unreadDocuments(ctx context.Context, t *target, d *damage) {
	t.unread(ctx, d, 1000,
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", enough))
}

// unreadRefusals are calls with tokens of nobody, many at once, whose answers nobody reads.
func unreadRefusals(ctx context.Context, t *target, d *damage) {
	t.unread(ctx, d, 1000,
		strings.Repeat("POST "+receivePath+" HTTP/1.1\r\nHost: x\r\nToken: x\r\nContent-Length: 0\r\n\r\n", enough))
}

// enough requests keep a connection busy, and their documents fill what sockets hold.
const enough = 400

// unread sends requests from so many clients, each one of them, and waits until the
// server gives up that nothing is read.
func (t *target) unread(ctx context.Context, d *damage, clients int, requests ...string) {
	const soon = 30 * time.Second
	d.begin()
	together(clients, func(i int) {
		c, err := t.dial(i)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		readLittle(c)
		d.open.Add(1)
		_ = c.SetWriteDeadline(time.Now().Add(soon))
		_, _ = io.WriteString(c, requests[i%len(requests)])
		// When the server has given up, a write fails.
		for began := time.Now(); time.Since(began) < soon; {
			time.Sleep(writeTimeout / 10)
			if _, err := io.WriteString(c, "\r\n"); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				d.open.Add(-1)
				return
			}
		}
	})
	<-ctx.Done()
}

// hungryRun runs a pipeline that takes nearly as much memory as it may.
func (t *target) hungryRun(ctx context.Context, wait string) int {
	var source strings.Builder
	source.WriteString("pipeline:\n")
	for i := range 7 {
		fmt.Fprintf(&source, "- set: {value: '#{repeat(\"x\", 8000000)}', output: vars.v%d}\n", i)
	}
	fmt.Fprintf(&source, "- wait: {duration: %s}\n- set: {value: null}\n", wait)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.url+"/api/v3/pipeline",
		strings.NewReader(source.String()))
	if err != nil {
		return 0
	}
	r.SetBasicAuth(sluice.AdminName, adminPassword)
	answer, err := t.client.http.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func hungryRuns(ctx context.Context, t *target, d *damage) {
	const runs = 60
	d.begin()
	together(runs, func(int) {
		for ctx.Err() == nil {
			d.count(t.hungryRun(ctx, "500ms"))
		}
	})
}

// largeEvents are the largest bodies of senders with a token; a pipeline gets
// them.
func largeEvents(ctx context.Context, t *target, d *damage) {
	const senders = 64
	body := bytes.Repeat([]byte("payload "), sluice.MaxPayloadLength/len("payload "))
	d.begin()
	together(senders, func(int) {
		for ctx.Err() == nil {
			t.post(ctx, d, receivePath, "text/plain", body, "Token", t.bodies)
		}
	})
}

// hungryChecks are bodies of many small values, sent with a token but no signature to
// webhooks that look into them before anything is stored.
func hungryChecks(ctx context.Context, t *target, d *damage) {
	const senders = 32
	list := manyValues(sluice.MaxPayloadLength / 8)
	name := `{"` + strings.Repeat("A", sluice.MaxPayloadLength-200) + `":[` + strings.Repeat("1,", 50) + "1]}"
	d.begin()
	together(senders, func(i int) {
		for n := i; ctx.Err() == nil; n++ {
			body := []string{list, `{"x":` + list + "}", `{"value":` + list + "}", name}[n%4]
			t.post(ctx, d, receivePath, "application/json", []byte(body), "Token", t.checked[n%len(t.checked)])
		}
	})
}

// manyValues is JSON of a size that takes many times as much memory.
func manyValues(size int) string {
	const item = `{"a":1}`
	return "[" + strings.Repeat(item+",", size/(len(item)+1)-1) + item + "]"
}

// largeValues are the same for a pipeline, which gets them decoded.
func largeValues(ctx context.Context, t *target, d *damage) {
	const senders = 32
	body := []byte(manyValues(sluice.MaxPayloadLength))
	d.begin()
	together(senders, func(int) {
		for ctx.Err() == nil {
			t.post(ctx, d, receivePath, "application/json", body, "Token", t.values)
		}
	})
}

// everything is what kills a server that bounds each of these alone.
func everything(ctx context.Context, t *target, d *damage) {
	all := []func(context.Context, *target, *damage){
		largeEvents, hungryRuns, hungryBodies("application/x-www-form-urlencoded", "&", ""),
	}
	together(len(all), func(i int) { all[i](ctx, t, d) })
}
