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
	"syscall"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/client"
	"sluice/value"
	"sluice/wait"
)

// takeWait is how long the server may wait for an item.
const takeWait = 25 * time.Second

// A pause is how long to wait before the next attempt. Each makes the next one longer.
type pause time.Duration

const shortPause = pause(time.Second)

func (p *pause) wait(ctx context.Context, least time.Duration) error {
	lasts := max(time.Duration(*p), least)
	*p = pause(min(2*lasts, time.Minute))
	return wait.For(ctx, lasts)
}

// work takes items of a queue one after the other, and lets a program do them, until ctx ends.
func (t *cli) work(ctx context.Context) error {
	all, early := t.On("all"), shortPause
	params := url.Values{"queue": t.Args[:1], "lease": {t.Text("lease")}, "wait": {takeWait.String()}}
	if all {
		params.Set("wait", "0s")
	}
	for ctx.Err() == nil {
		var taken sluice.List[sluice.WorkItem]
		began := time.Now()
		if err := t.persist(ctx, "work.take", params, nil, &taken); err != nil {
			return err
		}
		switch {
		case len(taken.Items) > 0 || time.Since(began) > takeWait/2:
			early = shortPause
		case all:
			return nil
		default: // the server did not wait: it begins or ends
			_ = early.wait(ctx, 0)
		}
		for _, item := range taken.Items {
			if err := t.doWork(ctx, item); sluice.CodeLeaseOver.Is(err) {
				t.Sayf("%s: %v", item.TraceID, err)
			} else if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// persist calls a command until the server can be reached, and takes the call. What may be a restart is not worth a
// word before it lasts.
func (t *cli) persist(ctx context.Context, name string, params url.Values, body *client.Body, into any) error {
	for next := shortPause; ; {
		err := t.Server.Decode(ctx, name, params, body, into)
		if !sluice.Unavailable.Is(err) && !sluice.Throttled.Is(err) {
			return err
		}
		e := sluice.AsError(err)
		if next > 4*shortPause || e.RetryAfter > 0 && !sluice.CodeDraining.Is(err) {
			t.Sayf("%s Trying on.", e.Message)
		}
		if err := next.wait(ctx, e.RetryAfter); err != nil {
			return err
		}
	}
}

// farewell is how long a program has to end.
const farewell = 2 * time.Second

// doWork runs the program for an item, and answers what came of it.
func (t *cli) doWork(ctx context.Context, item sluice.WorkItem) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	go t.extendWork(running, stop, item.Lease)
	program := exec.CommandContext(running, t.Args[1], t.Args[2:]...) //nolint:gosec // its user names it
	program.Env = append(program.Environ(), "SLUICE_QUEUE="+item.Queue, "SLUICE_TRACE_ID="+item.TraceID,
		"SLUICE_ATTEMPT="+strconv.Itoa(item.Attempt))
	program.Stdin = bytes.NewReader(append(item.Input, '\n'))
	out, said := &head{most: sluice.MaxKept + 1}, &head{most: 2000, latest: true}
	program.Stdout, program.Stderr = out, said
	program.Cancel = func() error {
		program.WaitDelay = farewell // only now: those that a program has started may write on after its end
		return program.Process.Signal(syscall.SIGTERM)
	}
	err := program.Run()
	answer := map[string]any{"lease": item.Lease}
	const later = 75 // EX_TEMPFAIL of sysexits.h
	switch code := program.ProcessState.ExitCode(); {
	case err == nil && len(out.text) < out.most && !utf8.Valid(out.text):
		err = errors.New("the output is neither text nor JSON; write it as base64, and let the pipeline read that")
		said.text = nil
	case err == nil: // it was not told to end: what it wrote is all of its output
		answer["value"] = valueOf(out.text)
		err = t.answerWork(ctx, "work.done", item, "done", answer)
		if !sluice.TooLarge.Is(err) && !sluice.Invalid.Is(err) {
			return err
		}
		delete(answer, "value")
		said.text = nil
	case program.ProcessState == nil: // it is not there, or no program
		answer["statusCode"] = http.StatusServiceUnavailable
		return cmp.Or(t.answerWork(ctx, "work.fail", item, "put off", answer), err)
	case ctx.Err() != nil || code == later:
		answer["statusCode"], answer["retryAfter"] = http.StatusServiceUnavailable, "0s"
		if code == later {
			answer["retryAfter"] = t.Text("later")
		}
		return t.answerWork(ctx, "work.fail", item, "put off", answer)
	case running.Err() != nil:
		return sluice.CodeLeaseOver.Errorf("the lease was lost; somebody else does it")
	}
	answer["message"] = cmp.Or(strings.TrimSpace(string(said.text)), err.Error())
	return t.answerWork(ctx, "work.fail", item, fmt.Sprintf("failed (%v)", err), answer)
}

// valueOf returns what a program wrote: JSON, or else text.
func valueOf(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD")
}

func (t *cli) answerWork(
	ctx context.Context, name string, item sluice.WorkItem, did string, answer map[string]any,
) error {
	text, err := value.Marshal(answer)
	if err != nil {
		return err
	}
	body := &client.Body{Content: text, ContentType: "application/json"}
	if err := t.persist(context.WithoutCancel(ctx), name, nil, body, new(any)); err != nil {
		return err
	}
	t.Sayf("%s: %s", item.TraceID, did)
	return nil
}

// extendWork keeps an item until ctx ends, and calls lost if it can't be kept.
func (t *cli) extendWork(ctx context.Context, lost func(), lease string) {
	for wait.For(ctx, t.Duration("lease")/3) == nil {
		_, err := t.Server.Command(ctx, "work.extend", url.Values{"lease": {lease}, "for": {t.Text("lease")}}, nil)
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
