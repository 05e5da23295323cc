package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/terminal"
	"sluice/value"
	"sluice/wait"
)

// A worker runs a program for each item of a queue.
type worker struct {
	*cli

	queue   string
	program []string
	lease   time.Duration
	later   time.Duration // after which work is offered again that its program puts off
	all     bool          // it ends when there is no more work
}

func workCommand(t *cli) *cobra.Command {
	w := &worker{cli: t}
	cmd := &cobra.Command{
		Use:   "work QUEUE [-- PROGRAM [ARGUMENT]]...",
		Short: "Do the work of pipelines with a program",
		Long: `Do the work that pipelines leave in a queue, by a program that is started for each item: it reads
			the input as JSON, and what it writes is the answer, as JSON or else as text. Exit code 0 means done and
			75 later; with any other the step fails, and the end of what the program says to standard error is the
			reason. The item stays with the program as long as it runs. Without a program, the queues are listed.`,
		Example: "  sluice work scan -- clamdscan -\n  sluice work invoices --lease 1m -- ./book.py",
		Args:    cobra.ArbitraryArgs,
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			if len(args) < 2 {
				return terminal.Needs("a queue and a program")(&cobra.Command{
					Use: "work QUEUE PROGRAM", Example: "  sluice work scan -- clamdscan -",
				}, args)
			}
			w.queue, w.program = args[0], args[1:]
			return w.work(ctx)
		}),
	}
	cmd.Flags().DurationVar(&w.lease, "lease", time.Minute,
		"how long an item is this program's if the connection is lost")
	cmd.Flags().DurationVar(&w.later, "later", time.Minute, "when an item is offered again after exit code 75")
	cmd.Flags().BoolVar(&w.all, "all", false, "end when there is no more work")
	return cmd
}

// work takes items one after the other, until ctx ends.
func (w *worker) work(ctx context.Context) error {
	params := url.Values{"queue": {w.queue}, "lease": {w.lease.String()}, "wait": {"25s"}}
	if w.all {
		params.Set("wait", "0s")
	}
	for pause := time.Second; ctx.Err() == nil; {
		var taken sluice.List[sluice.WorkItem]
		err := w.Server.Decode(ctx, "work.take", params, nil, &taken)
		switch {
		case err != nil && sluice.AsError(err).Kind == sluice.Unavailable:
			w.Sayf("The server can't be reached; trying on.")
			if wait.For(ctx, pause) != nil {
				return ctx.Err()
			}
			pause = min(2*pause, time.Minute)
			continue
		case err != nil:
			return err
		case len(taken.Items) == 0 && w.all:
			return nil
		}
		pause = time.Second
		for _, item := range taken.Items {
			if err := w.do(ctx, item); err != nil {
				w.Sayf("%s: %v", item.TraceID, err)
			}
		}
	}
	return ctx.Err()
}

// do runs the program for an item, and answers what came of it.
func (w *worker) do(ctx context.Context, item sluice.WorkItem) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	go w.extend(running, stop, item.Lease)
	program := exec.CommandContext(running, w.program[0], w.program[1:]...) //nolint:gosec // its user names it
	program.Env = append(program.Environ(), "SLUICE_QUEUE="+item.Queue, "SLUICE_TRACE_ID="+item.TraceID,
		"SLUICE_ATTEMPT="+strconv.Itoa(item.Attempt))
	program.Stdin = bytes.NewReader(append(item.Input, '\n'))
	out, said := &head{most: sluice.MaxKept + 1}, &head{most: 2000, latest: true}
	program.Stdout, program.Stderr = out, said
	err := program.Run()
	answer := map[string]any{"lease": item.Lease}
	const later = 75 // EX_TEMPFAIL of sysexits.h
	code := program.ProcessState.ExitCode()
	switch {
	case err == nil:
		answer["value"] = valueOf(out.text)
		return w.answer(ctx, "work.done", item, "done", answer)
	case ctx.Err() != nil || code == later:
		answer["statusCode"], answer["retryAfter"] = http.StatusServiceUnavailable, "0s"
		if code == later {
			answer["retryAfter"] = w.later.String()
		}
		return w.answer(context.WithoutCancel(ctx), "work.fail", item, "put off", answer)
	case running.Err() != nil:
		return errors.New("the lease was lost; somebody else does it")
	}
	answer["message"] = cmp.Or(strings.TrimSpace(string(said.text)), err.Error())
	return w.answer(ctx, "work.fail", item, fmt.Sprintf("failed (%v)", err), answer)
}

// valueOf returns what a program wrote: JSON, or else text.
func valueOf(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD")
}

func (w *worker) answer(
	ctx context.Context, name string, item sluice.WorkItem, did string, answer map[string]any,
) error {
	text, err := value.Marshal(answer)
	if err != nil {
		return err
	}
	body := &client.Body{Content: text, ContentType: "application/json"}
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		_, err := w.Server.Command(ctx, name, nil, body)
		if err == nil {
			w.Sayf("%s: %s", item.TraceID, did)
		}
		if err == nil || sluice.AsError(err).Kind != sluice.Unavailable || wait.For(ctx, pause) != nil {
			return err
		}
	}
}

// extend keeps an item until ctx ends, and calls lost if it can't be kept.
func (w *worker) extend(ctx context.Context, lost func(), lease string) {
	for wait.For(ctx, w.lease/3) == nil {
		_, err := w.Server.Command(ctx, "work.extend", url.Values{"lease": {lease}, "for": {w.lease.String()}}, nil)
		if sluice.CodeLeaseOver.Is(err) {
			lost()
		}
	}
}

// A head keeps the beginning or the end of what is written to it.
type head struct {
	text   []byte
	most   int
	latest bool
}

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	if h.text = append(h.text, p...); len(h.text) > h.most {
		if h.latest {
			h.text = h.text[len(h.text)-h.most:]
		} else {
			h.text = h.text[:h.most]
		}
	}
	return len(p), nil
}
