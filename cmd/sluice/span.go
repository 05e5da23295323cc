package main

import (
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// A span of time, as flags give it.
type span struct {
	from, to string
	since    time.Duration
}

func (s *span) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.from, "from", "", "earliest time, such as 2030-01-31T12:00:00Z, or 2030-01-31 12:00 here")
	cmd.Flags().StringVar(&s.to, "to", "", "latest time")
	cmd.Flags().DurationVar(&s.since, "since", 0, "from so long ago, such as 1h, until now")
}

func (s *span) given() bool { return s.from != "" || s.to != "" || s.since != 0 }

// set enters the span in parameters.
func (s *span) set(params url.Values) error {
	if s.since < 0 || s.since > 0 && s.from != "" {
		return usage("Give --since, such as 1h, or --from.")
	}
	if s.since > 0 {
		params.Set("from", time.Now().Add(-s.since).UTC().Format(time.RFC3339Nano))
	}
	for name, text := range map[string]string{"from": s.from, "to": s.to} {
		if text == "" {
			continue
		}
		at, err := parseTime(text)
		if err != nil {
			return usage("--%s: %q is no time such as 2030-01-31T12:00:00Z or 2030-01-31 12:00.", name, text)
		}
		params.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// parseTime reads a time; without a zone it is one of this place.
func parseTime(text string) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err = time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return at, err
}
