package expression

import "time"

// timeFunctions has the functions that work on times. Times and durations can be compared,
// added and subtracted; they leave the expression as text.
var timeFunctions = map[string]function{
	"now":      {usage: "now(): the time, in UTC", run: now},
	"date":     {usage: "date(text[, layout[, zone]]): the time in the text; the layout is written as 2006-01-02 15:04:05", kinds: threeTexts, needed: 1, run: date},
	"duration": {usage: "duration(text): such as 1h30m", kinds: oneText, run: duration},
}

const longestTime = 100 // bytes of any text about a time

func now(*frame, []any) (any, error) { return time.Now().UTC().Round(0), nil }

var layouts = []string{
	time.DateOnly, time.TimeOnly, time.DateTime, time.RFC3339, time.RFC822, time.RFC850, time.RFC1123,
}

func date(f *frame, args []any) (any, error) {
	if err := shortTexts(f, args); err != nil {
		return nil, err
	}
	s, tried, zone := args[0].(string), layouts, time.UTC
	if len(args) > 1 {
		tried = []string{args[1].(string)}
	}
	if len(args) > 2 {
		// The zone comes from a file.
		if err := f.spend(stepsPerCall); err != nil {
			return nil, err
		}
		found, err := time.LoadLocation(args[2].(string))
		if err != nil {
			return nil, fail("date knows no such time zone; use a name such as Europe/Zurich")
		}
		zone = found
	}
	for _, layout := range tried {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return sensible(t)
		}
	}
	return nil, fail("the text is not a time in the layout of date")
}

func duration(f *frame, args []any) (any, error) {
	if err := shortTexts(f, args); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[0].(string))
	if err != nil {
		return nil, fail("the text is not a duration such as 1h30m")
	}
	return d, nil
}

func shortTexts(f *frame, args []any) error {
	for _, arg := range args {
		if len(arg.(string)) > longestTime {
			return fail("a text about a time has at most %d bytes", longestTime)
		}
	}
	const stepsPerParse = 20
	return f.spend(stepsPerParse)
}

// later moves a time.
func later(t time.Time, by time.Duration) (any, error) { return sensible(t.Add(by)) }

// sensible rejects years that don't have four digits.
func sensible(t time.Time) (any, error) {
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, fail("a time lies outside of the years 0 to 9999")
	}
	return t, nil
}
