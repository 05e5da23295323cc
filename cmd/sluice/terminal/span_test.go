package terminal

import (
	"net/url"
	"testing"
	"time"
)

// noon is when the times in these tests are read.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.FixedZone("CET", 3600))

func TestTimesAsPeopleSayThem(t *testing.T) {
	for text, want := range map[string]string{
		"30m": "2030-01-31T10:30:00Z", "2h": "2030-01-31T09:00:00Z", "1d": "2030-01-30T11:00:00Z", "1w1d1h": "2030-01-23T10:00:00Z",
		"now": "2030-01-31T11:00:00Z", "today": "2030-01-30T23:00:00Z", "yesterday": "2030-01-29T23:00:00Z",
		"2030-01-01": "2029-12-31T23:00:00Z", "2030-01-01 12:00": "2030-01-01T11:00:00Z", "2030-01-01T12:00:00Z": "2030-01-01T12:00:00Z",
	} {
		got, err := parseMoment(text, noon)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: got %s, %v; want %s", text, got.UTC().Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "d", "1", "-1h", "1d-1h", "1x", "soon", "2030-13-01", "99999d"} {
		if got, err := parseMoment(text, noon); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	flags, params := map[string]string{"since": "1h", "to": "now"}, url.Values{}
	if err := setSpan(params, func(name string) string { return flags[name] }); err != nil || !params.Has("from") || !params.Has("to") {
		t.Errorf("got %v, %v", params, err)
	}
}
