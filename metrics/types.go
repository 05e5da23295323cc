package metrics

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sluice"
)

const (
	daysKept    = 30
	maxTypes    = 100   // that a day counts one by one, of a webhook
	maxAllTypes = 2_000 // likewise, of all webhooks
	typesShown  = 50
)

// daysIn returns the series of the kinds of events, in the store of the hours.
func daysIn(hours sluice.Records[sluice.Minute]) *series {
	s := newSeries(hours, 24*time.Hour, daysKept)
	s.prefix = "day"
	return s
}

// addType adds to the events of a kind. Kinds of a webhook beyond the limits share the empty one.
func addType(sum *sluice.Minute, eventKey, kind string, events sluice.TypeFigures) {
	of := sum.Types[eventKey]
	if _, known := of[kind]; !known {
		all := 0
		for _, kinds := range sum.Types {
			all += len(kinds)
		}
		switch {
		case all >= maxAllTypes && of == nil:
			return
		case all >= maxAllTypes || len(of) >= maxTypes:
			kind = ""
		case of == nil:
			if sum.Types == nil {
				sum.Types = make(map[string]map[string]sluice.TypeFigures)
			}
			of = make(map[string]sluice.TypeFigures)
			sum.Types[eventKey] = of
		}
	}
	of[kind] = events.And(of[kind])
}

// addTypes adds the kinds of events of one sum to another, which may share what it has with a record.
func addTypes(sum, other *sluice.Minute) {
	if other.Types == nil {
		return
	}
	before := sum.Types
	sum.Types = make(map[string]map[string]sluice.TypeFigures, len(before))
	for key, kinds := range before {
		sum.Types[key] = maps.Clone(kinds)
	}
	for key, kinds := range other.Types {
		for kind, events := range kinds {
			addType(sum, key, kind, events)
		}
	}
}

// types returns the kinds of events that webhooks got in the last 30 days.
func (m *Minutes) types() map[string]map[string]sluice.TypeFigures {
	m.storing.Lock()
	defer m.storing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	sum, first := make(map[string]map[string]sluice.TypeFigures), time.Now().Add(-daysKept*24*time.Hour)
	for _, part := range m.days.parts(m.counted) {
		for key, kinds := range part.Types {
			if part.Time.Before(first) {
				break
			}
			if sum[key] == nil {
				sum[key] = make(map[string]sluice.TypeFigures)
			}
			for kind, events := range kinds {
				sum[key][kind] = events.And(sum[key][kind])
			}
		}
	}
	return sum
}

// busiest returns the kinds with most events, and the sum of the rest as the last one.
func busiest(kinds map[string]sluice.TypeFigures) (types []sluice.TypeStats) {
	rest := kinds[""]
	for kind, events := range kinds {
		if kind != "" {
			types = append(types, sluice.TypeStats{Type: kind, TypeFigures: events})
		}
	}
	slices.SortFunc(types, func(a, b sluice.TypeStats) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Type, b.Type))
	})
	for _, of := range types[min(len(types), typesShown):] {
		rest = rest.And(of.TypeFigures)
	}
	if types = types[:min(len(types), typesShown)]; rest.Calls > 0 {
		types = append(types, sluice.TypeStats{Type: sluice.OtherTypes, TypeFigures: rest})
	}
	return types
}
