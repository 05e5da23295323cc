// Package work has what a pipeline leaves to somebody outside: the step work offers it, and the
// commands work.take, work.done, work.fail and work.extend let a worker do it at a time of its own.
// Package jetstream/queue keeps it, beside the event that waits for it.
package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// Options are what the commands need.
type Options struct {
	Work     sluice.Work
	Stopping <-chan struct{}                                   // closed when the server begins to stop
	Seen     func(ctx context.Context, command, target string) // called when a user sees payloads
}

// Commands returns the step and the commands about it.
func Commands(o Options) []command.Command {
	w := workers{o, limit.NewPlaces(maxTakersPerUser, maxTakers)}
	return []command.Command{
		command.New("work", "Let somebody outside do something, at a time of their own; what they answer is the body "+
			"of the next step. The run leaves its place meanwhile.", offer, command.Waits, ofQueue),
		command.New("work.take", "Take work, the oldest first: each item is one taker's at a time, until work.done, "+
			"work.fail, or the end of its lease.", w.take, command.Traffic, ofQueue),
		command.New("work.done", "Answer an item of work: its pipeline goes on with the value. The same lease again "+
			"has the same answer.", w.done, command.Traffic, command.Listed),
		command.New("work.fail", "Say that an item of work can't be done, or not now.", w.fail, command.Traffic,
			command.Listed),
		command.New("work.extend", "Keep an item of work for longer.", w.extend, command.Traffic, command.Listed),
		command.New("work.get", "Show what waits in a queue, and who has it, the oldest first.", w.get,
			command.ReadOnly, ofQueue),
		command.New("work.queues", "List the queues that have work, with how much there is and since when.", w.queues,
			command.ReadOnly, command.Listed),
	}
}

// workers are those who call the commands.
type workers struct {
	Options
	takers *limit.Places // by username
}

// Bounds of what workers and authors may say.
const (
	defaultWithin = 24 * time.Hour
	defaultLease  = 5 * time.Minute
	defaultItems  = 100

	maxTakers        = 1024 // that wait
	maxTakersPerUser = 128  // so that nobody takes all
)

type stepParams struct {
	Queue  string        `json:"queue" required:"true" names:"new queue" doc:"The name under which workers take it."`
	Within time.Duration `json:"within" min:"1s" max:"168h" doc:"How long there is for it; then the step fails with work-expired. Default 24h."`
	Input  any           `json:"input" body:"default" doc:"What the worker gets."`
}

// ofQueue declares that the command is about a queue.
func ofQueue(c *command.Command) {
	command.Valid("queue", func(queue any) error {
		if name, _ := queue.(string); !sluice.ValidPipelineName(name) {
			return errors.New("must be " + sluice.PipelineNameRule)
		}
		return nil
	})(c)
}

// offer is the step. The run ends here until there is an answer, and then comes here again.
func offer(ctx context.Context, p stepParams) (any, error) {
	run := sluice.RunFrom(ctx)
	if run.Kept == nil {
		return nil, sluice.CodeNoEvent.Errorf("Only the run of an event can wait for somebody: nobody would " +
			"be told of the end of this one. Send an event to a pipeline that does it.")
	}
	input, err := value.Marshal(p.Input)
	if err != nil {
		return nil, err
	}
	if len(input) > sluice.MaxPayloadLength {
		return nil, sluice.CodePayloadTooLarge.Errorf("The input is longer than %d bytes.",
			sluice.MaxPayloadLength)
	}
	now, step := time.Now().UTC(), run.StepKey()
	eventKey, _ := run.Event["eventKey"].(string)
	item := sluice.WorkItem{
		Queue: p.Queue, TraceID: run.TraceID, EventKey: eventKey, Pipeline: run.Pipeline, Input: input, Since: now,
		Until: now.Add(cmp.Or(p.Within, defaultWithin)),
	}
	until, err := run.Kept.Offer(ctx, step, item)
	if err != nil {
		return nil, err
	}
	answer, err := run.Kept.Answer(ctx, step)
	switch {
	case err != nil:
		return nil, err
	case answer == nil && now.Before(until):
		return nil, &sluice.WaitsError{Until: until, Answered: func() bool {
			answer, err := run.Kept.Answer(context.WithoutCancel(ctx), step)
			return answer != nil || err != nil // then another run looks again
		}}
	case answer == nil:
		return nil, sluice.CodeWorkExpired.Errorf("Nobody has done this until %s.", until.Format(time.RFC3339))
	case answer.Status != 0:
		return nil, sluice.CodeWorkFailed.Errorf("%s", answer.Message).WithStatus(answer.Status)
	}
	return value.Decode(answer.Value)
}

type takeParams struct {
	Queue string        `json:"queue" required:"true" names:"new queue" doc:"The queue."`
	Limit int           `json:"limit" min:"1" max:"100" doc:"At most this many items. Default 1."`
	Lease time.Duration `json:"lease" min:"1s" max:"12h" doc:"How long they are yours. Default 5m; work.extend gives more."`
	Wait  time.Duration `json:"wait" max:"30s" doc:"How long to wait if there is none."`
}

// wait takes a place among those who wait for work, until leave is called.
func (w workers) wait(user string) (leave func(), err error) {
	switch leave, err = w.takers.Enter(user); {
	case errors.Is(err, limit.ErrNoShare):
		err = sluice.CodeTooManyCalls.Errorf("As many of your calls wait for work as one user's may; there is " +
			"none now. Take several items with one call (limit), or try again soon.").After(2 * time.Second)
	case err != nil:
		err = sluice.Passing(sluice.CodeOverloaded, "As many calls wait for work as the server allows.")
	}
	return leave, err
}

func (w workers) take(ctx context.Context, p takeParams) (list sluice.List[sluice.WorkItem], err error) {
	user, refused := sluice.UserFrom(ctx).Name, error(nil)
	if p.Wait > 0 {
		var leave func()
		if leave, refused = w.wait(user); refused == nil {
			defer leave()
		} else {
			p.Wait = 0 // what is there is given all the same
		}
	}
	waiting, stop := context.WithTimeout(ctx, p.Wait)
	defer stop()
	go func() {
		select {
		case <-w.Stopping:
			stop()
		case <-waiting.Done():
		}
	}()
	list.Items, err = w.Work.Take(waiting, p.Queue, user, cmp.Or(p.Limit, 1), cmp.Or(p.Lease, defaultLease))
	if len(list.Items) > 0 {
		w.Seen(ctx, "work.take", p.Queue)
		return list, nil
	}
	list.Items = []sluice.WorkItem{}
	return list, cmp.Or(err, refused)
}

type doneParams struct {
	Lease string `json:"lease" required:"true" doc:"Of the item, as work.take gave it."`
	Value any    `json:"value" body:"default" doc:"The answer: the body of the next step; at most 1 MiB."`
}

// settled is what a worker hears.
type settled struct {
	Lease string `json:"lease" doc:"The lease, which is over."`
}

func (w workers) done(ctx context.Context, p doneParams) (settled, error) {
	text, err := value.Marshal(p.Value)
	if err != nil {
		return settled{}, err
	}
	if len(text) > sluice.MaxKept {
		return settled{}, sluice.CodeResultTooLarge.Errorf("The value has more than %d bytes as JSON.",
			sluice.MaxKept).About("value")
	}
	return settled{p.Lease},
		w.Work.Answer(ctx, p.Lease, sluice.WorkAnswer{Value: json.RawMessage(text)}, covered(ctx, "work.done"))
}

// covered lets the user do what they have a permission for in the queues that their scopes cover.
func covered(ctx context.Context, permission string) sluice.MayQueue {
	return func(queue string) error {
		if sluice.CoverFrom(ctx).Name(queue) {
			return nil
		}
		return sluice.NotCovered(permission, queue)
	}
}

type failParams struct {
	Lease      string        `json:"lease" required:"true" doc:"Of the item, as work.take gave it."`
	Message    string        `json:"message" doc:"Why; for the dead letter, not for the caller."`
	StatusCode int           `json:"statusCode" min:"400" max:"599" doc:"429 and 5xx: it is offered again. Others, such as 400, the default: the step fails."`
	RetryAfter time.Duration `json:"retryAfter" max:"168h" doc:"When it is offered again, but not beyond until. Default at once."`
}

func (w workers) fail(ctx context.Context, p failParams) (settled, error) {
	const longest = 2000
	status := cmp.Or(p.StatusCode, http.StatusBadRequest)
	a := sluice.WorkAnswer{
		Status: status, Message: cmp.Or(sluice.Shorten(p.Message, longest), "The worker gave no reason."),
	}
	if status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		a.Again = time.Now().UTC().Add(p.RetryAfter)
	}
	return settled{p.Lease}, w.Work.Answer(ctx, p.Lease, a, covered(ctx, "work.fail"))
}

type extendParams struct {
	Lease string        `json:"lease" required:"true" doc:"Of the item, as work.take gave it."`
	For   time.Duration `json:"for" required:"true" min:"1s" max:"12h" doc:"How long it lasts from now on, but not beyond until."`
}

// extended is until when a lease lasts.
type extended struct {
	Lease   string    `json:"lease" doc:"The lease."`
	Expires time.Time `json:"expires" doc:"When it is over."`
}

func (w workers) extend(ctx context.Context, p extendParams) (extended, error) {
	expires, err := w.Work.Extend(ctx, p.Lease, p.For, covered(ctx, "work.extend"))
	return extended{p.Lease, expires}, err
}

type getParams struct {
	Queue string `json:"queue" required:"true" names:"new queue" doc:"The queue."`
	Limit int    `json:"limit" min:"1" max:"1000" doc:"At most this many. Default 100."`
}

func (w workers) get(_ context.Context, p getParams) (list sluice.List[sluice.WorkItem], err error) {
	list.Items = w.Work.Items(p.Queue, cmp.Or(p.Limit, defaultItems))
	return list, nil
}

func (w workers) queues(ctx context.Context, _ struct{}) ([]sluice.WorkQueue, error) {
	cover := sluice.CoverFrom(ctx)
	queues := []sluice.WorkQueue{}
	for _, q := range w.Work.Queues() {
		if cover.Name(q.Queue) {
			queues = append(queues, q)
		}
	}
	return queues, nil
}
