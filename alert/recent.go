package alert

import (
	"maps"
	"slices"
	"time"

	"sluice"
)

// recentFigures count the runs of pipelines and the calls of webhooks in the five minutes up to
// the latest one of each: a share is still known when nothing happens any more. They are made of
// the figures of hours, which all servers share.
type recentFigures map[key]*window

type window struct {
	hours map[time.Time]sluice.RunFigures // as they were last seen
	last  []increase
}

// An increase is what was counted between two looks.
type increase struct {
	sluice.RunFigures

	at time.Time
}

// note looks at the last hours.
func (r recentFigures) note(hours []sluice.Minute, now time.Time) {
	for _, hour := range hours {
		for name, runs := range hour.Pipelines {
			r.see(key{sluice.AlertPipelineFailing, name}, hour.Time, runs, now)
		}
		for eventKey, calls := range hour.Webhooks {
			r.see(key{sluice.AlertQuarantine, eventKey}, hour.Time,
				sluice.RunFigures{Runs: calls.Accepted + calls.Rejected}, now)
		}
	}
	for k, w := range r {
		maps.DeleteFunc(w.hours, func(hour time.Time, _ sluice.RunFigures) bool {
			return now.Sub(hour) > (recentHours+1)*time.Hour
		})
		if len(w.hours) == 0 {
			delete(r, k)
		}
	}
}

func (r recentFigures) see(k key, hour time.Time, figures sluice.RunFigures, now time.Time) {
	w := r[k]
	if w == nil {
		w = &window{hours: map[time.Time]sluice.RunFigures{}}
		r[k] = w
	}
	was := w.hours[hour]
	w.hours[hour] = figures
	if more := figures.Runs - was.Runs; more > 0 {
		old := func(i increase) bool { return now.Sub(i.at) > countedLast }
		w.last = append(slices.DeleteFunc(w.last, old),
			increase{sluice.RunFigures{Runs: more, Errors: figures.Errors - was.Errors}, now})
	}
}

// figures returns what was counted of a subject.
func (r recentFigures) figures(k key) (sum sluice.RunFigures) {
	if w := r[k]; w != nil {
		for _, i := range w.last {
			sum.Add(i.RunFigures)
		}
	}
	return sum
}
