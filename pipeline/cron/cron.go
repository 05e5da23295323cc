// Package cron reads the times of a schedule as crontab has them, and finds them on a
// calendar. Times are those of a clock on the wall in some zone: one that summer time
// skips is at the next minute there is, and one that comes twice is the first of the two.
// Package pipeline/source has the section schedule; package pipeline runs by it.
package cron

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are the same on every machine
)

// A Schedule is when something happens, again and again.
type Schedule struct {
	Text string // as it was written, with the zone

	minutes, hours, days, months, weekdays set
	either                                 bool // a day of the month or of the week is enough
	zone                                   *time.Location
}

// A set has the values of a field as bits.
type set uint64

func (s set) has(value int) bool { return s&(1<<value) != 0 }

// A field is one of the five of a schedule.
type field struct {
	name        string
	least, most int
	names       []string // of the values from least on
}

var fields = [...]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"day of the week", 0, 7, strings.Fields("sun mon tue wed thu fri sat")},
}

// shorthands are names of schedules.
var shorthands = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse reads five fields or a shorthand, by the clocks of a zone.
func Parse(text string, zone *time.Location) (_ *Schedule, err error) {
	s := &Schedule{Text: text + " " + zone.String(), zone: zone}
	long := text
	if strings.HasPrefix(text, "@") {
		if long = shorthands[strings.ToLower(text)]; long == "" {
			return nil, fmt.Errorf("there is no %q; there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly "+
				"and @annually", text)
		}
	}
	parts := strings.Fields(long)
	if len(parts) != len(fields) {
		return nil, fmt.Errorf("it has %d fields instead of five: minute, hour, day of the month, month, day of the "+
			"week", len(parts))
	}
	for i, to := range []*set{&s.minutes, &s.hours, &s.days, &s.months, &s.weekdays} {
		if *to, err = fields[i].read(parts[i]); err != nil {
			return nil, err
		}
	}
	if s.weekdays.has(7) { // Sunday has two numbers
		s.weekdays |= 1
	}
	s.either = parts[2][0] != '*' && parts[4][0] != '*'
	if s.Next(time.Unix(0, 0)).IsZero() {
		return nil, errors.New("no month has such a day")
	}
	return s, nil
}

// read returns the values of a field: numbers or names, ranges, steps, and lists of these.
func (f field) read(text string) (values set, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, every, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			if step, err = strconv.Atoi(every); err != nil || step < 1 || step > f.most {
				return 0, fmt.Errorf("the step %q of the %s must be a number from 1 to %d", every, f.name, f.most)
			}
		}
		least, most, err := f.span(span, stepped)
		if err != nil {
			return 0, err
		}
		for value := least; value <= most; value += step {
			values |= 1 << value
		}
	}
	return values, nil
}

// span returns the ends of a range. A single value with a step is the start of one.
func (f field) span(text string, stepped bool) (least, most int, err error) {
	if text == "*" {
		return f.least, f.most, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if least, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		most, err = f.value(to)
	case stepped:
		most = f.most
	default:
		most = least
	}
	if err == nil && most < least {
		err = fmt.Errorf("the range %q of the %s ends before it begins", text, f.name)
	}
	return least, most, err
}

func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.least + i, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < f.least || value > f.most {
		names := ""
		if f.names != nil {
			names = ", or " + f.names[0] + " to " + f.names[len(f.names)-1]
		}
		return 0, fmt.Errorf("%q is no %s: those are %d to %d%s", text, f.name, f.least, f.most, names)
	}
	return value, nil
}

// horizon is how many years ahead times are looked for: the next 29th of February may be eight
// years away.
const horizon = 9

// Next returns the first time after another one; zero if there is none.
func (s *Schedule) Next(after time.Time) time.Time {
	now := after.In(s.zone)
	year, month, day := now.Date()
	wall := time.Date(year, month, day, now.Hour(), now.Minute(), 0, 0, time.UTC)
	for end := wall.AddDate(horizon, 0, 0); wall.Before(end); {
		switch year, month, day := wall.Date(); {
		case !s.includes(wall):
			wall = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
			continue
		case s.hours.has(wall.Hour()) && s.minutes.has(wall.Minute()):
			if at := s.instant(wall); at.After(after) {
				return at
			}
		}
		wall = wall.Add(time.Minute)
	}
	return time.Time{}
}

func (s *Schedule) includes(date time.Time) bool {
	inMonth, inWeek := s.days.has(date.Day()), s.weekdays.has(int(date.Weekday()))
	return s.months.has(int(date.Month())) && (inMonth && inWeek || s.either && (inMonth || inWeek))
}

// instant returns when the clocks of the zone show a time, which is given as if it were in UTC.
func (s *Schedule) instant(wall time.Time) time.Time {
	before := wall.Add(-24 * time.Hour).In(s.zone) // no zone is that far from UTC
	_, changes := before.ZoneBounds()
	if at := shown(wall, before); changes.IsZero() || at.Before(changes) {
		return at
	}
	if at := shown(wall, changes); at.After(changes) {
		return at
	}
	return changes.UTC()
}

// shown returns when clocks show a time that go as at another time.
func shown(wall, as time.Time) time.Time {
	_, offset := as.Zone()
	return wall.Add(-time.Duration(offset) * time.Second)
}
