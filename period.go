package sluice

import "time"

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
