package pipelines

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
	"sluice/problem"
	"sluice/value"
)

// A workView is the page of work that waits: all queues, or one with its items, or the item that the
// user has taken.
type workView struct {
	Queues []sluice.WorkQueue
	Queue  string
	Items  []sluice.WorkItem
	Mine   *sluice.WorkItem

	Problem, Value, Message string // why the answer was not taken, and what it was
}

func workPage(v *page.Visit) error {
	return v.Show("work", "Work", workView{Queues: page.Ask[[]sluice.WorkQueue](v, "work.queues")})
}

func workQueue(v *page.Visit) error {
	view := workView{Queue: v.Named("queue")}
	view.Items = page.Ask[sluice.List[sluice.WorkItem]](v, "work.get", "queue", view.Queue, "limit", page.Size).Items
	return v.Show("work", view.Queue, view)
}

// workLease is how long an item is its taker's. Their browser has it extended while they look at it.
const workLease = "15m"

// workTake shows the oldest item to the user.
func workTake(v *page.Visit) error {
	queue := v.Named("queue")
	taken := page.Ask[sluice.List[sluice.WorkItem]](v, "work.take", "queue", queue, "lease", workLease)
	if len(taken.Items) == 0 { // somebody was faster
		return v.Redirect(workPath(queue))
	}
	return v.Show("work", queue, workView{Queue: queue, Mine: &taken.Items[0]})
}

// workAnswer says what came of an item: a value, which may be JSON, or that it can't be done.
func workAnswer(v *page.Visit) error {
	queue, lease, text, message := v.Named("queue"), v.Entered("lease"), v.Entered("value"), v.Entered("message")
	var err error
	switch v.Entered("do") {
	case "extend":
		extended, _, err := v.Document("work.extend", "lease", lease, "for", workLease)
		v.Fail(err)
		return sendJSON(v, extended)
	case "fail":
		_, err = v.Run("work.fail", "lease", lease, "message", message)
	case "back":
		_, err = v.Run("work.fail", "lease", lease, "statusCode", "503")
	default:
		answer, mistake := value.Decode(text)
		if mistake != nil {
			answer = text
		}
		_, err = v.Run("work.done", "lease", lease, command.Args{{Name: "value", Value: answer}})
	}
	if err == nil {
		return v.Redirect(workPath(queue) + "?done=saved")
	}
	v.Status = problem.Status(err)
	return v.Show("work", queue, workView{
		Mine:    &sluice.WorkItem{Queue: queue, Lease: lease},
		Problem: sluice.AsError(err).Message, Value: text, Message: message,
	})
}

func workPath(queue string) string { return "/work/" + url.PathEscape(queue) }
