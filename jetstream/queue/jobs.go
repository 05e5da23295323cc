package queue

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"sluice"
)

// jobs are the items of all queues that are not answered.
type jobs struct {
	now   func() time.Time
	clock clock

	lock    sync.Mutex
	byPlace btree.Map[string, *job]
	queues  map[string]*jobQueue
}

// A job is an item as the index knows it. Its lock is held while its progress is stored.
type job struct {
	mu    sync.Mutex
	place string          // binding, event and step
	item  sluice.WorkItem // as it was offered, without its input
	key   []byte          // for what is kept of the event; nil: it was not needed yet
	newest
}

// within returns a time, or the end of the work if that is earlier.
func (j *job) within(at time.Time) time.Time {
	if at.Before(j.item.Until) {
		return at
	}
	return j.item.Until
}

// A newest is the newest progress of an item, as far as it is known here. What replaces it does so on
// condition that it still is.
type newest struct {
	progress
	sequence uint64 // 0: nobody has taken it yet
}

// A jobQueue has the items of one name.
type jobQueue struct {
	name    string
	takers  int                 // who wait for an item
	free    *btree.BTreeG[*job] // the oldest first
	away    *btree.BTreeG[*job] // the first to be free again first
	all     *btree.BTreeG[*job] // the first to be over first, those that are picked included
	changed chan struct{}       // closed and replaced when an item is free
}

func newJobs(now func() time.Time) *jobs {
	return &jobs{now: now, clock: clock{began: time.Now()}, queues: make(map[string]*jobQueue)}
}

// keepTime moves the ends of all leases back with the clock on the wall, if that was set back. It is
// called before a later lease is noted.
func (x *jobs) keepTime() {
	back := x.clock.setBack(x.now())
	if back == 0 {
		return
	}
	x.byPlace.Scan(func(_ string, j *job) bool {
		j.Free, j.item.Until = j.Free.Add(back), j.item.Until.Add(back)
		return true
	})
}

func (x *jobs) queue(name string) *jobQueue {
	q := x.queues[name]
	if q == nil {
		q = &jobQueue{name: name, changed: make(chan struct{})}
		q.free = btree.NewBTreeG(func(a, b *job) bool {
			return cmp.Or(a.item.Since.Compare(b.item.Since), strings.Compare(a.place, b.place)) < 0
		})
		q.away = btree.NewBTreeG(func(a, b *job) bool {
			return cmp.Or(a.Free.Compare(b.Free), strings.Compare(a.place, b.place)) < 0
		})
		q.all = btree.NewBTreeG(func(a, b *job) bool {
			return cmp.Or(a.item.Until.Compare(b.item.Until), strings.Compare(a.place, b.place)) < 0
		})
		x.queues[name] = q
	}
	return q
}

// taking keeps a queue for somebody who waits for its items, until done is called. Whoever asks
// names any queue: one without items and takers is not kept.
func (x *jobs) taking(name string) (done func()) {
	x.lock.Lock()
	defer x.lock.Unlock()
	q := x.queue(name)
	q.takers++
	return func() {
		x.lock.Lock()
		defer x.lock.Unlock()
		q.takers--
		x.tidy(q)
	}
}

// tidy drops a queue that nobody needs.
func (x *jobs) tidy(q *jobQueue) {
	if q.takers == 0 && q.all.Len() == 0 {
		delete(x.queues, q.name)
	}
}

// offered adds an item.
func (x *jobs) offered(place string, item sluice.WorkItem) {
	x.lock.Lock()
	defer x.lock.Unlock()
	x.keepTime()
	if _, known := x.byPlace.Get(place); known {
		return
	}
	item.Input = nil
	j := &job{place: place, item: item}
	x.byPlace.Set(place, j)
	x.put(j)
}

// moved notes the progress of an item. One that is answered is no job any more.
func (x *jobs) moved(place string, sequence uint64, p progress) {
	x.lock.Lock()
	defer x.lock.Unlock()
	x.keepTime()
	j, known := x.byPlace.Get(place)
	if !known || sequence <= j.sequence {
		return
	}
	x.leave(j)
	if j.progress, j.sequence = p, sequence; p.Answer != nil {
		x.byPlace.Delete(place)
		return
	}
	x.put(j)
}

// put lets an item wait for a taker, or until it is free.
func (x *jobs) put(j *job) {
	q := x.queue(j.item.Queue)
	q.all.Set(j)
	if j.Free.After(x.now()) {
		q.away.Set(j)
	} else {
		q.free.Set(j)
	}
	close(q.changed)
	q.changed = make(chan struct{})
}

func (x *jobs) leave(j *job) {
	q := x.queue(j.item.Queue)
	q.all.Delete(j)
	q.free.Delete(j)
	q.away.Delete(j)
	x.tidy(q)
}

// enter puts a picked item back, if it is still a job.
func (x *jobs) enter(j *job) {
	x.lock.Lock()
	defer x.lock.Unlock()
	if known, _ := x.byPlace.Get(j.place); known == j {
		x.leave(j)
		x.put(j)
	}
}

// forget drops the items whose place begins with a text.
func (x *jobs) forget(prefix string) {
	x.lock.Lock()
	defer x.lock.Unlock()
	var gone []*job
	x.byPlace.Ascend(prefix, func(place string, j *job) bool {
		if strings.HasPrefix(place, prefix) {
			gone = append(gone, j)
			return true
		}
		return false
	})
	for _, j := range gone {
		x.leave(j)
		x.byPlace.Delete(j.place)
	}
}

func (x *jobs) count() int {
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.byPlace.Len()
}

func (x *jobs) find(place string) *job {
	x.lock.Lock()
	defer x.lock.Unlock()
	j, _ := x.byPlace.Get(place)
	return j
}

// isFree reports whether a picked item is still there for a taker.
func (x *jobs) isFree(j *job) (is newest, free bool) {
	x.lock.Lock()
	defer x.lock.Unlock()
	known, _ := x.byPlace.Get(j.place)
	return j.newest, known == j && !j.Free.After(x.now())
}

// holds reports whether a lease of an item lasts.
func (x *jobs) holds(j *job, lease string) (is newest, holds bool) {
	x.lock.Lock()
	defer x.lock.Unlock()
	return j.newest, lease != "" && j.Lease == lease && j.Answer == nil && x.now().Before(j.Free)
}

// pick takes items out of their queue that are free, the oldest first, until enter. If there are
// none, changed is closed when there may be some, and wait is when the next one is free. The caller
// is one of its takers.
func (x *jobs) pick(queue string, limit int) (picked []*job, changed <-chan struct{}, wait time.Duration) {
	x.lock.Lock()
	defer x.lock.Unlock()
	q := x.queues[queue]
	x.arrange(q)
	for j, ok := q.free.PopMin(); ok; j, ok = q.free.PopMin() {
		if picked = append(picked, j); len(picked) == limit {
			break
		}
	}
	wait = lookWork
	if next, ok := q.away.Min(); ok {
		wait = next.Free.Sub(x.now())
	}
	return picked, q.changed, wait
}

// arrange drops the items whose event does not wait any more, and frees those whose time has come.
func (x *jobs) arrange(q *jobQueue) {
	x.keepTime()
	now := x.now()
	for j, ok := q.all.Min(); ok && !j.item.Until.After(now); j, ok = q.all.Min() {
		x.byPlace.Delete(j.place)
		x.leave(j)
	}
	for j, ok := q.away.Min(); ok && !j.Free.After(now); j, ok = q.away.Min() {
		q.away.Delete(j)
		q.free.Set(j)
	}
	x.tidy(q)
}

// Items implements sluice.Work.
func (x *jobs) Items(queue string, limit int) []sluice.WorkItem {
	x.lock.Lock()
	defer x.lock.Unlock()
	items := []sluice.WorkItem{}
	q := x.queues[queue]
	if q == nil {
		return items
	}
	x.arrange(q)
	add := func(j *job) bool {
		view := j.item
		if view.Attempt = j.Taken; j.Free.After(x.now()) {
			view.Taker, view.Expires = j.Taker, j.Free
		}
		items = append(items, view)
		return len(items) < limit
	}
	most := limit
	q.free.Scan(add)
	limit += len(items)
	q.away.Scan(add)
	slices.SortStableFunc(items, func(a, b sluice.WorkItem) int { return a.Since.Compare(b.Since) })
	return items[:min(len(items), most)]
}

// Queues implements sluice.Work.
func (x *jobs) Queues() []sluice.WorkQueue {
	x.lock.Lock()
	defer x.lock.Unlock()
	queues := []sluice.WorkQueue{}
	for name, q := range x.queues {
		x.arrange(q)
		view := sluice.WorkQueue{Queue: name, Waiting: q.free.Len(), Taken: q.away.Len()}
		oldest := func(j *job) bool {
			if view.Oldest == nil || j.item.Since.Before(*view.Oldest) {
				view.Oldest, view.Pipeline = &j.item.Since, j.item.Pipeline
				view.Late = x.now().Sub(j.item.Since) > j.item.Until.Sub(j.item.Since)/2
			}
			return true
		}
		if j, ok := q.free.Min(); ok {
			oldest(j)
		}
		q.away.Scan(oldest)
		if view.Oldest != nil {
			queues = append(queues, view)
		}
	}
	slices.SortFunc(queues, func(a, b sluice.WorkQueue) int { return strings.Compare(a.Queue, b.Queue) })
	return queues
}
