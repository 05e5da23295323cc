package queue

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// keptEvery is how often watchKept checks.
const keptEvery = 10 * time.Second

// watchKept logs how long outcomes should be kept, and checks regularly that they are,
// until ctx ends.
func (o *Outcomes) watchKept(ctx context.Context) {
	// After the start: if that fails, the first line of the log says why.
	say := sync.OnceFunc(func() { o.host.Log.Info(o.promise()) })
	o.host.Every(ctx, keptEvery, func(time.Time) {
		say()
		info, err := o.Info(ctx)
		if err != nil {
			return
		}
		kept := time.Duration(0)
		// The engine drops outcomes of their age a little late.
		if age := time.Since(info.State.FirstTime); info.State.Msgs > 0 && age < o.keep.Age &&
			o.keep.full(int64(info.State.Msgs), int64(info.State.Bytes)) {
			kept = age
		}
		o.kept.Store(int64(kept))
	})
}

// promise says how long outcomes are kept, and up to which rate.
func (o *Outcomes) promise() string {
	k := o.keep
	text, seconds := fmt.Sprintf("Results of pipelines are kept for %v", k.Age), int64(k.Age.Seconds())
	if seconds > 0 && k.MaxCount > 0 {
		text += fmt.Sprintf(", up to %d a second (--result-max-count)", k.MaxCount/seconds)
	}
	if seconds > 0 && k.MaxBytes > 0 {
		text += fmt.Sprintf(", up to %d bytes a second (--result-max-bytes)", k.MaxBytes/seconds)
	}
	return text + "."
}

// full reports whether there are about as many outcomes as are kept.
func (k Retention) full(count, bytes int64) bool {
	const room = 100 // one in so many
	return k.MaxCount > 0 && count >= k.MaxCount-k.MaxCount/room ||
		k.MaxBytes > 0 && bytes >= k.MaxBytes-k.MaxBytes/room
}

// Warning says that outcomes are not kept as long as they should be, "" if they
// are.
func (o *Outcomes) Warning() string {
	kept := time.Duration(o.kept.Load())
	if kept == 0 {
		return ""
	}
	return fmt.Sprintf("results of pipelines go after %v instead of %v, since there are so many; raise "+
		"--result-max-count or --result-max-bytes", kept.Round(time.Second), o.keep.Age)
}
