package sluice

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var daysInAge = regexp.MustCompile(`^(\d{1,4})([dw])`)

// ParseAge reads how long ago something was: 30m, 2h, 1d or 1w2d12h.
func ParseAge(text string) (age time.Duration, err error) {
	rest := text
	for {
		found := daysInAge.FindStringSubmatch(rest)
		if found == nil {
			break
		}
		days, _ := strconv.Atoi(found[1]) // the pattern says that it is a number
		if found[2] == "w" {
			days *= 7
		}
		age += time.Duration(days) * 24 * time.Hour
		rest = rest[len(found[0]):]
	}
	if rest == "" && text != "" {
		return age, nil
	}
	more, err := time.ParseDuration(rest)
	if more < 0 {
		return 0, errors.New("a time ago is not negative")
	}
	return age + more, err
}

// Since returns the time that the parameters from and since of a command stand for. At
// most one of them may be given.
func Since(from time.Time, since string) (time.Time, error) {
	if since == "" {
		return from, nil
	}
	if !from.IsZero() {
		return from, InvalidParameter("since", "Give either since or from.")
	}
	age, err := ParseAge(since)
	if err != nil {
		return from, InvalidParameter("since", "The parameter since must be how long ago, such as 30m, 2h or 1d.")
	}
	return time.Now().Add(-age).UTC(), nil
}

// ShortDuration writes a duration as people do: 24h, not 24h0m0s.
func ShortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Milliseconds returns a duration as records have it: in milliseconds, to the
// microsecond.
func Milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// A Period is a duration that people read, such as 1h, or auto.
type Period time.Duration

// ExpectAuto is the ExpectEvery of a webhook whose usual pauses are learned.
const ExpectAuto time.Duration = -1

// Auto is how ExpectAuto is written.
const Auto = "auto"

// ParsePeriod reads a Period.
func ParsePeriod(text string) (Period, error) {
	if text == Auto {
		return Period(ExpectAuto), nil
	}
	d, err := time.ParseDuration(text)
	return Period(d), err
}

// String returns the period as people write it.
func (p Period) String() string {
	if p == Period(ExpectAuto) {
		return Auto
	}
	return ShortDuration(time.Duration(p))
}

// MarshalText implements encoding.TextMarshaler.
func (p Period) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Period) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePeriod(string(text))
	return err
}
