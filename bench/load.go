package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// bodySize is the size of a call's body in bytes, unless a part says otherwise.
const bodySize = 1024

// A load is calls to a server, spread over the webhooks whose tokens are the
// lines of a file: webhooks are called with a body, or, where a part gives the
// path of something else and no size, that is read with GET. Behind a line that
// ends with = comes a number that no other call has.
type load struct {
	base          string // http:// or https://, and an address
	path          string // up to the token; receivePath if empty
	tokens        string // the file
	connections   int
	size          int    // of a body; 0 for a GET without one
	authorization string // the header; none if empty
	header        string // others, each as "Name: value" on a line; none if empty
}

// bodyOf returns the body of a call of that size, whichever generator makes it.
func bodyOf(size int) string {
	const head, tail = `{"data":"`, `","number":100000}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

// A measurement is what a generator prints about a burst of load, as JSON.
type measurement struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"` // milliseconds
	P99      float64 `json:"p99"`
	Max      float64 `json:"max"`
	Failed   int     `json:"failed"` // bad answers, broken connections, time-outs
}

func (o measurement) rate() float64 { return float64(o.Requests) / o.Seconds }

//go:embed load.lua
var wrkScript []byte

// run lets the generator call the server for a while. A single call that goes
// wrong fails it: refusals are cheap, so a rate with refusals in it is void.
func (b *bench) run(ctx context.Context, l load, d time.Duration) (measurement, error) {
	cmd, err := b.generate(ctx, l, d)
	if err != nil {
		return measurement{}, err
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	printed, err := cmd.Output()
	if err != nil {
		return measurement{}, fmt.Errorf("load: %w: %s", err, &complaints)
	}
	var o measurement
	// wrk says what it is about to do before its script prints the measurement.
	if err := json.Unmarshal(printed[max(0, bytes.LastIndexByte(printed, '{')):], &o); err != nil {
		return measurement{}, fmt.Errorf("load: can't read what it printed: %w\n%s", err, printed)
	}
	if o.Failed > 0 || o.Requests == 0 {
		first, _, _ := strings.Cut(complaints.String(), "\n")
		return o, fmt.Errorf("load: %d calls were answered, %d failed: %s", o.Requests, o.Failed, first)
	}
	return o, nil
}

// generate returns the command that makes a load. Either generator takes one
// core at most.
func (b *bench) generate(ctx context.Context, l load, d time.Duration) (*exec.Cmd, error) {
	connections, size := strconv.Itoa(l.connections), strconv.Itoa(l.size)
	path := cmp.Or(l.path, receivePath)
	if b.wrk == "" {
		program, err := os.Executable()
		return exec.CommandContext(ctx, program, "role-load", l.base, connections, d.String(), path, l.tokens, size,
			l.authorization, l.header), err
	}
	script := filepath.Join(b.dir, "load.lua")
	seconds := strconv.Itoa(max(1, int(d.Seconds())))
	return exec.CommandContext(ctx, b.wrk, "-t1", "--timeout=10s", "-c"+connections, "-d"+seconds+"s", "-s"+script,
		l.base+path, l.tokens, size, l.authorization, l.header), os.WriteFile(script, wrkScript, 0o600)
}

// generator names where the load comes from.
func (b *bench) generator() string {
	if b.wrk == "" {
		return "a generator in Go"
	}
	return "wrk"
}

// newLoad returns a load of calls to a server over 64 connections, with bodies
// of the usual size. It writes the tokens to a file of that name.
func (b *bench) newLoad(c *client, name string, tokens []string) (load, error) {
	path := filepath.Join(b.part, name+".tokens")
	l := load{base: c.base, tokens: path, connections: 64, size: bodySize}
	return l, os.WriteFile(path, []byte(strings.Join(tokens, "\n")+"\n"), 0o600)
}

// to returns the same load for another server.
func (l load) to(c *client) load {
	l.base = c.base
	return l
}

// over returns the same load over another number of connections.
func (l load) over(connections int) load {
	l.connections = connections
	return l
}

// reading returns the load that reads what the path leads to, with the tokens
// of this one behind it.
func (l load) reading(path, authorization string) load {
	l.path, l.authorization, l.size = path, authorization, 0
	return l
}
