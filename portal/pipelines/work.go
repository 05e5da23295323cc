package pipelines

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	Free   bool // there may be something to take
	Mine   *sluice.WorkItem

	Problem, Mistake, Value, Message string // why the answer was not taken, what to mend in it, and what it was
}

func workPage(v *page.Visit) error {
	return v.Show("work", "Work", workView{Queues: page.Ask[[]sluice.WorkQueue](v, "work.queues")})
}

func workQueue(v *page.Visit) error {
	view := workView{Queue: v.Named("queue")}
	view.Items = page.Ask[sluice.List[sluice.WorkItem]](v, "work.get", "queue", view.Queue, "limit", page.Size).Items
	isFree := func(i sluice.WorkItem) bool { return i.Expires.IsZero() }
	view.Free = strconv.Itoa(len(view.Items)) == page.Size || slices.ContainsFunc(view.Items, isFree)
	return v.Show("work", view.Queue, view)
}

// workLease is how long an item is its taker's. Their browser has it extended while they look at it.
const workLease = "15m"

// workTake shows the oldest item to the user.
func workTake(v *page.Visit) error {
	queue := v.Named("queue")
	taken := page.Ask[sluice.List[sluice.WorkItem]](v, "work.take", "queue", queue, "lease", workLease)
	if len(taken.Items) == 0 { // somebody was faster
		return v.Redirect(workPath(queue) + "?late=yes")
	}
	return v.Show("work", queue, workView{Queue: queue, Mine: &taken.Items[0]})
}

// workAnswer says what came of an item: a value, which may be JSON, or that it can't be done.
func workAnswer(v *page.Visit) error {
	queue, lease, text, message := v.Named("queue"), v.Entered("lease"), v.Entered("value"), v.Entered("message")
	view := workView{Mine: &sluice.WorkItem{Queue: queue, Lease: lease}, Value: text, Message: message}
	var err error
	switch do := v.Entered("do"); {
	case do == "extend":
		extended, _, err := v.Document("work.extend", "lease", lease, "for", workLease)
		v.Fail(err)
		return sendJSON(v, extended)
	case do == "fail":
		_, err = v.Run("work.fail", "lease", lease, "message", message)
	case do == "back":
		_, err = v.Run("work.fail", "lease", lease, "statusCode", "503")
	case strings.TrimSpace(message) != "":
		v.Status, view.Mistake = http.StatusBadRequest, "It is done, or it can't be: remove this, or say the latter."
		return v.Show("work", queue, view)
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
	v.Status, view.Problem = problem.Status(err), sluice.AsError(err).Message
	return v.Show("work", queue, view)
}

func workPath(queue string) string { return "/work/" + url.PathEscape(queue) }
