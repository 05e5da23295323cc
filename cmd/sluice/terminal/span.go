package terminal

import (
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
)

// A span is a span of time, from flags.
type span struct {
	from, to, since string
}

func (s *span) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.since, "since", "", "from then until now: 30m, 2h, 1d, today, yesterday, or a time")
	cmd.Flags().StringVar(&s.from, "from", "", "earliest time, such as 2030-01-31 12:00 here, or 2030-01-31T12:00:00Z")
	cmd.Flags().StringVar(&s.to, "to", "", "latest time")
}

// set sets the parameters from and to.
func (s *span) set(params url.Values) error {
	if s.since != "" && s.from != "" {
		return exit.Usage("Give --since, such as 1h, or --from; not both.")
	}
	now := time.Now()
	for _, flag := range []struct{ name, text, param string }{
		{"since", s.since, "from"}, {"from", s.from, "from"}, {"to", s.to, "to"},
	} {
		if flag.text == "" {
			continue
		}
		at, err := parseMoment(flag.text, now)
		if err != nil {
			return exit.Usage("--%s: %q is no time; give one such as 2h, 1d, yesterday, 2030-01-31 12:00 or "+
				"2030-01-31T12:00:00Z.", flag.name, flag.text)
		}
		params.Set(flag.param, at.UTC().Format(time.RFC3339Nano))
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
