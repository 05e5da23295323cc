// Command torture takes a server down in the middle of its work and checks
// that nothing it acknowledged is lost.
//
//	go run ./torture power-cut    as root on Linux: cuts the power of its disk
//	go run ./torture disk         as root on Linux: lets its disk fail, hang and lie
//	go run ./torture kill9        kills the process, without root
//	go run ./torture crash        takes it down during apply, backup and the like
//	go run ./torture clock        sets its clock by hours
//	go run ./torture descriptors  takes all its file descriptors
//	go run ./torture backup       backs up, and restores elsewhere
//	go run ./torture siege        as root on Linux: takes its memory and time
//	go run ./torture soak         loads it for long; its memory must stay flat
//	go run ./torture cluster      breaks an external engine of three servers
//	go run ./torture deliveries   repeats deliveries at nodes that are killed
//	go run ./torture damage       damages one file of a store after the other
//	go run ./torture restart      hands over to a new program again and again
//	go run ./torture walk         goes through random operations and faults; -nodes 3 on several nodes
//	go run ./torture flow         orders, does once and leaves work, with kills and wrong clocks
//
// All but the last eight load a server of their own over HTTP: calls of webhooks, each with
// a body that no other call has and made twice, and changes of webhooks. Pipelines
// listen to most of the calls; some fail, some take a while, and some tell a
// counter in this program of each of their runs. They keep a ledger of every
// answer, take the server down at a random moment, start it again on the same
// data, and look for everything in the ledger. The server comes from the same
// constructor as the shipped one.
//
// Two controls show that the figures mean something: in the control the server
// stops cleanly, and nothing may be missing; in the negative control data is
// lost on purpose, and the check must notice.
//
// It prints a line for each cycle, and at the end a table:
//
//	cycles             how often the server was taken down while it worked
//	acked              calls answered with 200
//	lost               of these, not found again, or with other contents
//	duplicated         calls that were stored more than once: none may be
//	not found          calls answered with 200 that trace.get does not find
//	results            of the calls, those that a pipeline has a result for
//	results lost       of these, not ready in time, gone, wrong, or not as read before
//	runs repeated      runs of pipelines beyond the first of their event
//	changes            puts and deletes of webhooks that were answered
//	changes lost       webhooks found as they were before an answered change
//
// An event that a server worked on when it went down is worked on again: runs
// may be repeated, and none may be missing.
//
// A siege attacks a server that has 512 MiB, then one that has 256 MiB, with TLS and
// without (-faults 256MiB-tls chooses one), and measures what good callers have of it:
// slow senders, unfinished bodies, bodies and runs that swell in memory, clients that
// never read, header fields, streams of HTTP/2, checks and conversions that take long.
// Each attack has bars, which the negative controls must miss: the server without bounds
// on memory, and for what no setting unbinds a bare server of net/http:
//
//	survived                the process is still there
//	calls, p99, refused     of good callers during the attack; quiet p99: before
//	refused to attackers    answers 503 and 429
//	peak memory, before     resident, of the server's process
//
// The exit code is 0 if nothing was lost and no bar was missed but in the
// negative control.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// A mode is one way to torture a server.
type mode struct {
	name    string
	summary string
	run     func(context.Context, settings) error
}

// modes lists all modes; a new one is a file and a line here.
var modes = []mode{
	powerCut, diskMode, kill9, crashMode, clockMode, descriptorsMode, backups, siege, soak, clusterMode, deliveriesMode,
	damageMode, restartMode, walkMode, flowMode,
}

// parts are what the program runs as processes of its own.
var parts = map[string]func(ctx context.Context, data string, options []string) error{
	serverPart:   runServer,
	besiegedPart: runBesieged,
	eventsPart:   printEvents,
	removePart:   removeEvent,
	natsPart:     runNATS,
	nodePart:     runNode,
	rekeyPart:    runRekey,
	restartPart:  runRestarted,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(args) == 0 {
		usage(os.Stderr)
		return errors.New("which mode?")
	}
	if part, ok := parts[args[0]]; ok && len(args) > 1 {
		return part(ctx, args[1], args[2:])
	}
	for _, m := range modes {
		if m.name == args[0] {
			return runMode(ctx, m, args[1:])
		}
	}
	usage(os.Stderr)
	return fmt.Errorf("there is no mode %q", args[0])
}

func runMode(ctx context.Context, m mode, args []string) error {
	s, err := parseSettings(m.name, args)
	if err != nil {
		return err
	}
	if m.name != siege.name && m.name != soak.name && m.name != walkMode.name {
		fmt.Printf("%s: %d cycles, seed %d\n", m.name, s.cycles, s.seed)
	}
	err = m.run(ctx, s)
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: torture <mode> [flags]")
	for _, m := range modes {
		fmt.Fprintf(w, "  %-12s %s\n", m.name, m.summary)
	}
}
