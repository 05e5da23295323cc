// Package event has the commands about events and messages: listen, get,
// receive, send and replay. Package jetstream stores the events; package
// pipeline starts the pipelines that listen.
package event

import (
	"context"

	"sluice"
	"sluice/command"
)

// Options are what the commands need.
type Options struct {
	Events     sluice.Events
	Stored     sluice.StoredEvents
	Journal    sluice.Journal
	Waiting    sluice.WaitingEvents
	Work       sluice.Work // what waiting events wait for
	Quarantine sluice.QuarantineStore
	Erasures   sluice.Erasures
	Note       func(context.Context, sluice.AuditEntry) // enters something in the audit log
	Namespace  string
	Seen       func(ctx context.Context, command, target string) // called when a user sees payloads
	// closed when the server begins to stop, which ends all waiting
	Stopping <-chan struct{}
}

// Commands returns the commands about events and messages.
func Commands(o Options) []command.Command {
	noListener := command.Missing(func(_ context.Context, _, name string) error { return sluice.NoListener(name) })
	return []command.Command{
		starts[listenParams]("event.listen", "Start the pipeline with each event of that key; the event is the body."),
		starts[messageReceiveParams]("message.receive", "Start the pipeline with each message of that key; the "+
			"message is the body. Events have the key svc.event. followed by their own."),
		command.New("event.get", "Read stored events in the order in which they came, page by page. Needs the "+
			"permission trace.payload, too, since events show what callers have sent.", o.get, command.ReadOnly),
		command.New(sluice.ReceiveCommand, "Get an event: the one that started the run if it has that key, otherwise "+
			"the newest stored one, or the next one if a timeout is given; null if there is none. The permission to "+
			"read is not enough, since events show what callers have sent: it takes event.receive itself, or "+
			"trace.payload. For an event that did not start the run, the pipeline's owner needs one of them, too.",
			o.receive, command.ReadOnly),
		command.New("event.send", "Send an event: pipelines that listen to its key are started.", o.sendEvent,
			sends("eventKey")),
		command.New("message.send", "Send a message: pipelines that receive messages of its key are started.",
			o.sendMessage, sends("key")),
		command.New("event.replay", "Send stored events again, oldest first, under new trace ids.", o.replay,
			noListener),
		command.New("event.retry", "Try events now that wait for another attempt. It counts as an attempt like any "+
			"other.", o.retry),
		command.New(sluice.EraseCommand, "Erase calls: payload, headers and results are gone from all that is "+
			"stored, and overwritten on disk. That there was a call remains. Their replays, and copies from the "+
			"quarantine, go with them.", o.erase),
		command.New("event.erasures", "List what was erased, by trace id, for sluice restore --erasures.", o.erasures,
			command.ReadOnly, command.Global, command.Answers([]sluice.Erasure{})),
	}
}

func checkKey(parameter, key string) error {
	if sluice.ValidKey(key) {
		return nil
	}
	return sluice.InvalidParameter(parameter, "The parameter %s must be %s.", parameter, sluice.KeyRule)
}
