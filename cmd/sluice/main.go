// Command sluice receives webhooks durably, and is the client of servers that do.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/serve"
)

func main() {
	ctx, hurry, release := interrupts()
	t := &cli{&terminal.Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Release: release, Commands: serve.Commands(),
	}, hurry}
	err := t.Execute(ctx, t.rootCommand(), os.Args[1:])
	release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", view.Printable(exit.Explain(err)))
	}
	if own, ok := errors.AsType[*exit.CodeError](err); ok && own.Hint != "" {
		fmt.Fprintln(os.Stderr, view.Lines(own.Hint))
	}
	os.Exit(exit.CodeOf(err))
}

// interrupts returns a context that ends at the first SIGINT or SIGTERM, and a
// channel that is closed at the second. The third kills the program, as does any
// signal after release.
func interrupts() (first context.Context, second <-chan struct{}, release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	release = func() { signal.Stop(signals) }
	first, stop := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	go func() {
		<-signals
		stop()
		<-signals
		release()
		close(hurry)
	}()
	return first, hurry, release
}
