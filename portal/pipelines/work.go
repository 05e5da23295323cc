package pipelines

import (
	"net/url"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
	"sluice/value"
)

// A workView is the page of work that waits: all queues, or one with its items, or the item that the
// user has taken.
type workView struct {
	Queues []sluice.WorkQueue
	Queue  string
	Items  []sluice.WorkItem
	Mine   *sluice.WorkItem
}

func workPage(v *page.Visit) error {
	queues, err := page.Ask[[]sluice.WorkQueue](v, "work.queues")
	if err != nil {
		return err
	}
	return v.Show("work", "Work", workView{Queues: queues})
}

func workQueue(v *page.Visit) error {
	view := workView{Queue: v.Named("queue")}
	found, err := page.Ask[sluice.List[sluice.WorkItem]](v, "work.get", "queue", view.Queue, "limit", page.Size)
	if err != nil {
		return err
	}
	view.Items = found.Items
	return v.Show("work", view.Queue, view)
}

// workTake shows the oldest item to the user, whose it is for a quarter of an hour.
func workTake(v *page.Visit) error {
	queue := v.Named("queue")
	taken, err := page.Ask[sluice.List[sluice.WorkItem]](v, "work.take", "queue", queue, "lease", "15m")
	if err != nil {
		return err
	}
	if len(taken.Items) == 0 { // somebody was faster
		return v.Redirect(workPath(queue))
	}
	return v.Show("work", queue, workView{Queue: queue, Mine: &taken.Items[0]})
}

// workAnswer says what came of an item: a value, which may be JSON, or that it can't be done.
func workAnswer(v *page.Visit) error {
	path, lease := workPath(v.Named("queue"))+"?done=saved", v.Entered("lease")
	switch v.Entered("do") {
	case "fail":
		return v.RunThen(path, "work.fail", "lease", lease, "message", v.Entered("message"))
	case "back":
		return v.RunThen(path, "work.fail", "lease", lease, "statusCode", "503")
	}
	answer, err := value.Decode(v.Entered("value"))
	if err != nil {
		answer = v.Entered("value")
	}
	return v.RunThen(path, "work.done", "lease", lease, command.Args{{Name: "value", Value: answer}})
}

func workPath(queue string) string { return "/work/" + url.PathEscape(queue) }
