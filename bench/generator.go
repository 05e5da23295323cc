package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// loadRole is the generator for machines without wrk. Arguments: http://
// or https:// and an address, connections, duration, path up to the token, file with tokens, size of a
// body, Authorization header, other headers; for the last three see load.
func loadRole(args []string) error {
	runtime.GOMAXPROCS(1) // as wrk with one thread
	connections, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	length, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	tokens, err := os.ReadFile(args[4])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(args[5])
	if err != nil {
		return err
	}
	scheme, address, _ := strings.Cut(args[0], "://")
	dial := func() (net.Conn, error) { return net.Dial("tcp", address) }
	if scheme == "https" {
		dial = func() (net.Conn, error) { return tls.Dial("tcp", address, anyCertificate) }
	}
	o := generate(template(address, args[3], size, args[6], args[7]), strings.Fields(string(tokens)), dial, connections,
		length)
	return json.NewEncoder(os.Stdout).Encode(o)
}

// A request is what is sent, before and behind the token.
type request struct{ head, tail []byte }

func template(address, path string, size int, authorization, header string) request {
	method, tail := "GET ", " HTTP/1.1\r\nHost: "+address+"\r\n"
	if authorization != "" {
		tail += "Authorization: " + authorization + "\r\n"
	}
	if header != "" {
		tail += strings.ReplaceAll(header, "\n", "\r\n") + "\r\n"
	}
	body := ""
	if size > 0 {
		method = "POST "
		tail += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", size)
		body = bodyOf(size)
	}
	return request{head: []byte(method + path), tail: []byte(tail + "\r\n" + body)}
}

// generate calls a server over some connections for a while.
func generate(
	r request, tokens []string, dial func() (net.Conn, error), connections int, length time.Duration,
) measurement {
	callers := make([]caller, connections)
	var running sync.WaitGroup
	began := time.Now()
	for i := range callers {
		running.Go(func() {
			callers[i].err = callers[i].run(r, tokens, dial, began.Add(length))
		})
	}
	running.Wait()
	o := measurement{Seconds: time.Since(began).Seconds()}
	var all []time.Duration
	for _, c := range callers {
		all = append(all, c.latencies...)
		if c.err != nil {
			fmt.Fprintln(os.Stderr, c.err)
			o.Failed++
		}
	}
	slices.Sort(all)
	o.Requests = len(all)
	if len(all) > 0 {
		o.P50 = all[len(all)/2].Seconds() * 1e3
		o.P99 = all[len(all)*99/100].Seconds() * 1e3
		o.Max = all[len(all)-1].Seconds() * 1e3
	}
	return o
}

// A caller makes one call after the other on one connection.
type caller struct {
	latencies []time.Duration
	err       error
}

// run calls until a time, or until a call fails.
func (c *caller) run(r request, tokens []string, dial func() (net.Conn, error), until time.Time) error {
	const lastAnswer = 5 * time.Second // may come this late
	conn, err := dial()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // all answers are read
	if err := conn.SetDeadline(until.Add(lastAnswer)); err != nil {
		return err
	}
	answers := bufio.NewReaderSize(conn, 4<<10)
	var sent []byte
	for at := rand.IntN(len(tokens)); ; at = (at + 1) % len(tokens) {
		began := time.Now()
		if began.After(until) {
			return nil
		}
		sent = append(append(sent[:0], r.head...), tokens[at]...)
		if strings.HasSuffix(tokens[at], "=") {
			sent = strconv.AppendUint(sent, rand.Uint64(), 36)
		}
		sent = append(sent, r.tail...)
		if _, err := conn.Write(sent); err != nil {
			return err
		}
		if err := readAnswer(answers); err != nil {
			return err
		}
		c.latencies = append(c.latencies, time.Since(began))
	}
}

// readAnswer reads one answer, which must be a 200 with a Content-Length.
func readAnswer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("answered %q", status)
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		name, value, found := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case found && bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		case len(name) == 0 && length < 0:
			return errors.New("answered without a Content-Length")
		case len(name) == 0:
			_, err := r.Discard(length)
			return err
		}
	}
}
