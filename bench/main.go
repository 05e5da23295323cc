// Command bench measures what the service costs, on this machine:
//
//	go run ./bench                     # everything, about a quarter of an hour
//	go run ./bench -only rate          # one part; -h lists them
//	go run ./bench -dir /mnt/disk      # data on another volume
//	go run ./bench -only cluster -against ./sluice-before
//
// It starts the server as a process of its own, through the constructor of the
// shipped program, and beside it what it is compared with: a bare net/http
// handler, and the same server with the engine's sync-always in place of group
// commit, or with authentication switched off. The load comes from a further
// process: wrk where it is installed, otherwise a generator in Go. What is
// compared is measured in short bursts that alternate, and a ratio is the median
// of the rounds' ratios: so a noisy machine disturbs both sides alike.
//
// Progress goes to stderr. The results go to stdout as a Markdown table of each
// figure, its value, the bar it is held to, and whether it meets it, with a
// line that names the machine. A figure that misses its bar is not a failure of
// the program; failed calls are.
//
// Further figures are one more file with a function like measureRate, and one
// line in the list of parts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A part is a group of figures that can be measured alone.
type part struct {
	name    string
	summary string
	measure func(context.Context, *bench) error
}

var parts = []part{
	{"rate", "calls a second and latency, against a bare handler and against the engine's sync-always", measureRate},
	{"tls", "calls a second with HTTPS, against a bare handler with HTTPS", measureTLS},
	{"bodies", "calls a second with bodies of 100 KiB and 1 MiB, against a bare handler with the same", measureBodies},
	{"senders", "calls that are signed, have an id, must meet a schema, are redacted, or sealed, against plain ones",
		measureSenders},
	{"proofs", "calls with each proof of their sender, against calls without, and bare verifications", measureProofs},
	{"webhooks", "cost of a call and resident memory with 10 and with 100,000 webhooks", measureWebhooks},
	{"million", "longest call while webhooks are listed, stored and deleted among 1,000,000", measureMillion},
	{"auth", "calls a second by kind of credentials, against no authentication; and a flood of wrong passwords",
		measureAuth},
	{"pipelines", "calls that start a pipeline, its backlog, latency and polls, alone and with 1,000 pipelines " +
		"beside it", measurePipelines},
	{"delivery", "a backlog with events that fail and are retried, and one whose runs call another service",
		measureDelivery},
	{"once", "calls whose pipeline does a step once, against one more stored event", measureOnce},
	{"work", "items of work a second that are taken and done by 16 workers", measureWork},
	{"waiting", "memory and start of a server with 1,000,000 events that wait for their next attempt", measureWaiting},
	{"targets", "steps that reach databases, clusters and APIs with credentials, against the same without sluice, or " +
		"without credentials", measureTargets},
	{"trace", "time to find calls among 1,000,000", measureTrace},
	{"portal", "time and size of the portal's pages, with 100,000 webhooks and 1,000,000 calls", measurePortal},
	{"cluster", "calls on an external engine of three servers, and the messages each costs there", measureCluster},
	{"backup", "speed of a backup against the disk's, and calls while one is made", measureBackup},
	{"start", "time from start to ready: empty, and with 1,000,000 events", measureStart},
}

func main() {
	var err error
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		err = roles[os.Args[1]](os.Args[2:])
	} else {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the parts that the flags ask for and prints the table, also of
// what was measured before something failed.
func run() error {
	only := flag.String("only", "", "comma-separated parts to measure; default: all of\n"+describeParts())
	rounds := flag.Int("rounds", 9, "rounds of bursts; the figures are medians over them")
	burst := flag.Duration("burst", time.Second, "length of one burst, in whole seconds")
	dir := flag.String("dir", ".", "folder on the volume to measure; the data in it is removed afterwards")
	against := flag.String("against", "",
		"another sluice program, which the part cluster measures in turn with this one")
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if flag.NArg() > 0 || *rounds < 1 || *burst < time.Second || *burst%time.Second != 0 {
		return errors.New("expected only flags, rounds of at least 1, and bursts of whole seconds; see -h")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := newBench(*dir, *rounds, *burst)
	if err != nil {
		return err
	}
	defer b.close()
	b.against = *against
	err = b.measure(ctx, chosen)
	fmt.Print(b.table.markdown(machine(b.dir), b.generator()))
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

func describeParts() string {
	lines := make([]string, len(parts))
	for i, p := range parts {
		lines[i] = fmt.Sprintf("  %s: %s", p.name, p.summary)
	}
	return strings.Join(lines, "\n")
}

// choose returns the parts of a comma-separated list, all for an empty one.
func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q; there are\n%s", name, describeParts())
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}
