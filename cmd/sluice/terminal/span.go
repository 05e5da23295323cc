package terminal

import (
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sluice"
	"sluice/cmd/sluice/exit"
)

// addSpan gives a verb flags for a span of time.
func addSpan(flags *pflag.FlagSet) {
	flags.String("since", "", "from then until now: 30m, 2h, 1d, today, yesterday, or a time")
	flags.String("from", "", "earliest time, such as 2030-01-31 12:00 here, or 2030-01-31T12:00:00Z")
	flags.String("to", "", "latest time")
}

// setSpan sets the parameters from and to as flags say.
func setSpan(params url.Values, flag func(name string) string) error {
	if flag("since") != "" && flag("from") != "" {
		return exit.Usage("Give --since, such as 1h, or --from; not both.")
	}
	now := time.Now()
	for _, name := range []string{"since", "from", "to"} {
		text := flag(name)
		if text == "" {
			continue
		}
		at, err := parseMoment(text, now)
		if err != nil {
			return exit.Usage("--%s: %q is no time; give one such as 2h, 1d, yesterday, 2030-01-31 12:00 or "+
				"2030-01-31T12:00:00Z.", name, text)
		}
		params.Set(strings.Replace(name, "since", "from", 1), at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

var moments = []string{
	time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly,
}

// parseMoment reads a time: how long ago it was, the name of a day, or a date, in
// local time unless it has a zone.
func parseMoment(text string, now time.Time) (at time.Time, err error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if ago, err := sluice.ParseAge(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range moments {
		if at, err = time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return at, err
}
