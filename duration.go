package sluice

import (
	"strings"
	"time"
)

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
