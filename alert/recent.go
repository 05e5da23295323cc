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
	grown := map[key]*increase{}
	see := func(k key, hour time.Time, figures sluice.RunFigures) {
		if r[k] == nil {
			r[k] = &window{hours: map[time.Time]sluice.RunFigures{}}
		}
		if grown[k] == nil {
			grown[k] = &increase{at: now}
		}
		was := r[k].hours[hour]
		grown[k].Add(sluice.RunFigures{Runs: figures.Runs - was.Runs, Errors: figures.Errors - was.Errors})
		r[k].hours[hour] = figures
	}
	for _, hour := range hours {
		for name, runs := range hour.Pipelines {
			see(key{sluice.AlertPipelineFailing, name}, hour.Time, runs)
		}
		for eventKey, calls := range hour.Webhooks {
			see(key{sluice.AlertQuarantine, eventKey}, hour.Time,
				sluice.RunFigures{Runs: calls.Accepted + calls.Rejected})
		}
	}
	for k, of := range r {
		maps.DeleteFunc(of.hours, func(hour time.Time, _ sluice.RunFigures) bool {
			return now.Sub(hour) > (recentHours+1)*time.Hour
		})
		if more := grown[k]; more == nil {
			delete(r, k) // for hours nothing happened
		} else if more.Runs > 0 {
			old := func(i increase) bool { return now.Sub(i.at) > countedLast }
			of.last = append(slices.DeleteFunc(of.last, old), *more)
		}
	}
}

// figures returns what was counted of a subject.
func (r recentFigures) figures(k key) (sum sluice.RunFigures) {
	if of := r[k]; of != nil {
		for _, i := range of.last {
			sum.Add(i.RunFigures)
		}
	}
	return sum
}
