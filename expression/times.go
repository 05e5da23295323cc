package expression

import "time"

// timeFunctions has the functions that work on times. Times and durations can be compared,
// added and subtracted; they leave the expression as text.
var timeFunctions = []declaration{
	{"now(): the time, in UTC", "", currentTime},
	{
		"date(text[, layout[, zone]]): the time in the text; the layout is written as 2006-01-02 15:04:05",
		"text text? text?", readTime,
	},
	{"duration(text): such as 1h30m", "text", readDuration},
}

func currentTime(*frame, []any) any { return time.Now().UTC().Round(0) }

var layouts = []string{
	time.DateOnly, time.TimeOnly, time.DateTime, time.RFC3339, time.RFC822, time.RFC850, time.RFC1123,
}

func readTime(f *frame, args []any) any {
	shortTexts(f, args)
	tried, zone := layouts, time.UTC
	if len(args) > 1 {
		tried = []string{args[1].(string)}
	}
	if len(args) > 2 {
		f.spend(stepsPerCall) // the zone comes from a file
		var err error
		if zone, err = time.LoadLocation(args[2].(string)); err != nil {
			fail("date knows no such time zone; use a name such as Europe/Zurich")
		}
	}
	for _, layout := range tried {
		if t, err := time.ParseInLocation(layout, args[0].(string), zone); err == nil {
			return sensible(t)
		}
	}
	return fail("the text is not a time in the layout of date")
}

func readDuration(f *frame, args []any) any {
	shortTexts(f, args)
	d, err := time.ParseDuration(args[0].(string))
	if err != nil {
		fail("the text is not a duration such as 1h30m")
	}
	return d
}

// shortTexts pays for parsing texts about times, which are short.
func shortTexts(f *frame, args []any) {
	const longest, stepsPerParse = 100, 20
	for _, arg := range args {
		if len(arg.(string)) > longest {
			fail("a text about a time has at most %d bytes", longest)
		}
	}
	f.spend(stepsPerParse)
}
