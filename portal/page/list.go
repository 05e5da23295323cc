package page

import (
	"time"

	"sluice"
)

// WrongFilter returns why a command rejected the filter of a list, "" if it did not. With another error the page
// fails.
func (v *Visit) WrongFilter(err error) (rejection string) {
	if err != nil && !sluice.Invalid.Is(err) {
		v.Fail(err)
	}
	return v.Mistake(err)
}

// AsTime returns the value of a browser's time field in RFC 3339, as UTC. It returns
// any other text unchanged.
func AsTime(text string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}
