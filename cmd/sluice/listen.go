package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
)

// listenArgs say what to listen to.
type listenArgs struct {
	pattern string
	kind    string // of the events; "" means any
	forward string // "" means that events are printed
	anew    bool
	wait    bool
}

func listenCommand(t *cli) *cobra.Command {
	var l listenArgs
	cmd := &cobra.Command{
		Use:   "listen [EVENTKEY] [URL]",
		Short: "Deliver events to a program on this machine",
		Long: `Deliver events to a program on this machine, as the calls that they were: with their method, headers
			and body, without their secrets. The URL may be a port, or a host and a port; without one the events are
			printed. Without an event key, all events are meant.

			The first time it begins with events from then on. How far it came is kept: after a broken connection,
			when it is started again, and when events are to go to another URL, it goes on behind the last event it
			delivered. Events wait while the program can't be reached. EVENTKEY may be a pattern: * stands for one
			group, # at the end for any number of groups.`,
		Example: "  sluice listen webhook.lead.created --forward http://localhost:3000/hook\n" +
			"  sluice listen webhook.lead.created 3000\n" +
			"  sluice listen localhost:3000",
		Args:              terminal.Needs("an event key and a URL"),
		ValidArgsFunction: t.CompleteNames("webhook.get", "eventKey", terminal.NoFiles),
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			if err := l.read(args); err != nil {
				return err
			}
			return t.listenTo(ctx, l)
		}),
	}
	cmd.Flags().StringVar(&l.forward, "forward", "",
		"URL or port to deliver events to, such as http://localhost:3000/hook")
	cmd.Flags().StringVar(&l.kind, "type", "",
		"only events of this kind, such as push; * at its end stands for the rest")
	cmd.Flags().BoolVar(&l.anew, "new", false, "begin with events from now on, wherever it came before")
	cmd.Flags().BoolVar(&l.wait, "wait", false, "listen even though no webhook has this event key yet")
	return cmd
}

// read reads the arguments: one that can't be an event key is a URL.
func (l *listenArgs) read(args []string) error {
	for _, arg := range args {
		_, notNumber := strconv.Atoi(arg)
		switch isURL := strings.ContainsAny(arg, ":/") || notNumber == nil; {
		case isURL && l.forward != "":
			return exit.Usage("Events go to one URL, and %q is another; start it twice.", arg)
		case isURL:
			l.forward = arg
		case l.pattern != "":
			return exit.Usage("%q is a second event key; a pattern such as webhook.# stands for several.", arg)
		default:
			l.pattern = arg
		}
	}
	l.pattern = cmp.Or(l.pattern, "#")
	return nil
}

// knows refuses to wait for the events of a key that no webhook has.
func (t *cli) knows(ctx context.Context, l listenArgs) error {
	if l.wait || strings.ContainsAny(l.pattern, "*#") {
		return nil
	}
	_, err := t.resourceNamed("webhook").one(ctx, l.pattern)
	if e := sluice.AsError(err); err != nil && e.Kind == sluice.NotFound {
		return e.Saying(e.Message + " With --wait it is listened to all the same.")
	}
	return nil // other errors appear when the events are read
}

func (t *cli) listenTo(ctx context.Context, to listenArgs) error {
	l := &listener{cli: t}
	if to.forward != "" {
		var err error
		if l.forwarder, err = client.NewForwarder(to.forward); err != nil {
			return err
		}
		to.forward = l.forwarder.URL()
	}
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	if err := t.knows(ctx, to); err != nil {
		return err
	}
	position := client.Position{URL: t.Server.URL(), Pattern: to.pattern, Type: to.kind, Forward: to.forward}
	if !to.anew {
		if position, err = profiles.Resume(position); err != nil {
			return err
		}
	}
	if position.After == "" {
		if _, position.After, err = t.Server.Events(ctx, position, 1, 0); err != nil {
			return err
		}
		if err := profiles.Keep(position); err != nil {
			return err
		}
		t.Sayf("Waiting for events of %s.", to.pattern)
	} else {
		t.Sayf("Going on with events of %s where it ended; --new begins anew.", to.pattern)
	}
	err = t.Server.Listen(ctx, position, l.deliver, func(cursor string) error {
		position.After = cursor
		return profiles.Keep(position)
	})
	if sluice.CodeCursorGone.Is(err) {
		return sluice.Errorf(sluice.CodeCursorGone,
			"The server no longer has the place where this ended; start with --new.")
	}
	return err
}
