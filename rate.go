package sluice

import (
	"strconv"
	"strings"
	"time"
)

// MaxRate is how many of something a rate may allow in its second, minute or hour.
const MaxRate = 100_000

// RateRule says in words what a rate must be.
const RateRule = "an integer from 1 to 100000 for a second, minute or hour, such as 10/s, 100/m or 1000/h"

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// ParseRate reads a rate such as 10/s: how far apart things are that come at it. ok is false if
// the text is none.
func ParseRate(text string) (interval time.Duration, ok bool) {
	count, unit, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(count)
	if err != nil || number < 1 || number > MaxRate || rateUnits[unit] == 0 {
		return 0, false
	}
	return rateUnits[unit] / time.Duration(number), true
}
