// Package wording writes numbers for people, on pages and on the command line: sizes,
// durations, counts, and how long ago something was.
package wording

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Ago returns how far a time is from now, or its date if that is long.
func Ago(now, at time.Time) string {
	const day, month = 24 * time.Hour, 30 * 24 * time.Hour
	passed := now.Sub(at)
	format := "%d%s ago"
	if passed < -time.Second {
		passed, format = -passed, "in %d%s"
	}
	switch {
	case passed < time.Second:
		return "now"
	case passed < time.Minute:
		return fmt.Sprintf(format, passed/time.Second, "s")
	case passed < time.Hour:
		return fmt.Sprintf(format, passed/time.Minute, "m")
	case passed < day:
		return fmt.Sprintf(format, passed/time.Hour, "h")
	case passed < month:
		return fmt.Sprintf(format, passed/day, "d")
	}
	return at.Format(time.DateOnly)
}

// Duration returns a duration with two or three digits.
func Duration(d time.Duration) string {
	switch milliseconds := float64(d) / float64(time.Millisecond); {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%.0fµs", milliseconds*1000)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", milliseconds)
	case d < time.Second:
		return fmt.Sprintf("%.0fms", milliseconds)
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Truncate(time.Second).String()
}

// Bytes returns a size; a negative one is unknown.
func Bytes[N int | int64 | float64](n N) string {
	if n < 0 {
		return "unknown"
	}
	units := []string{"B", "kB", "MB", "GB", "TB"}
	number, unit := float64(n), 0
	for number >= 1000 && unit < len(units)-1 {
		number, unit = number/1000, unit+1
	}
	return strconv.FormatFloat(math.Round(number*10)/10, 'f', -1, 64) + " " + units[unit]
}

// Count returns a number with commas between the thousands.
func Count[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural returns a number with the word for one or for several.
func Plural[N int | int64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + several
}

// Times returns how often something happened.
func Times[N int | int64](n N) string {
	if n == 1 {
		return "once"
	}
	return Count(n) + " times"
}
