package cron_test

import (
	"strings"
	"testing"
	"time"

	"sluice/pipeline/cron"
)

// TestNext: the times that follow a time, by the clocks of a zone.
func TestNext(t *testing.T) {
	const berlin = "Europe/Berlin"
	for _, test := range []struct{ text, zone, after, want string }{
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z"},
		{"* * * * *", "", "2026-01-01T00:00:59.5Z", "2026-01-01T00:01:00Z"},
		{"*/15 6-20 * * 1-5", berlin, "2026-01-02T19:45:00Z", "2026-01-05T05:00:00Z 2026-01-05T05:15:00Z"}, // a Friday
		{"5/20 0 * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z 2026-01-01T00:25:00Z 2026-01-01T00:45:00Z 2026-01-02T00:05:00Z"},
		{"0 12 * feb,DEC mon-Wed", "", "2026-01-01T00:00:00Z", "2026-02-02T12:00:00Z 2026-02-03T12:00:00Z 2026-02-04T12:00:00Z 2026-02-09T12:00:00Z"},
		{"0 0 * * 7", "", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
		{"0 0 * * 6-7", "", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z 2026-01-04T00:00:00Z"},
		{"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"0 0 29 2 *", "", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 0 13 * fri", "", "2026-01-05T00:00:00Z", "2026-01-09T00:00:00Z 2026-01-13T00:00:00Z 2026-01-16T00:00:00Z"}, // either
		{"0 0 */2 * fri", "", "2026-01-05T00:00:00Z", "2026-01-09T00:00:00Z 2026-01-23T00:00:00Z"},                     // both
		{"@hourly", "", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
		{"@daily", "", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		{"@Midnight", "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01T18:30:00Z"},
		{"@weekly", "", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
		{"@monthly", "", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		{"@yearly", "", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"@annually", "", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},

		// On 29 March 2026, 02:00 to 03:00 is skipped; on 25 October it comes twice.
		{"30 2 * * *", berlin, "2026-03-28T00:00:00Z", "2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"*/30 * * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		{"30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"*/30 * * * *", berlin, "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z 2026-10-25T02:00:00Z 2026-10-25T02:30:00Z"},
		{"*/30 * * * *", berlin, "2026-10-25T01:10:00Z", "2026-10-25T02:00:00Z"},
		{"0 12 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T01:30:00Z 2026-10-04T01:00:00Z"},               // by half an hour
		{"0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2011-12-29T22:00:00Z 2011-12-30T10:00:00Z 2011-12-30T22:00:00Z"}, // a day
		{"59 23 31 12 *", "Pacific/Kiritimati", "2026-01-01T00:00:00Z", "2026-12-31T09:59:00Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cron.Parse(test.text, zone)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		at, err := time.Parse(time.RFC3339, test.after)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range strings.Fields(test.want) {
			if at = s.Next(at); at.Format(time.RFC3339) != want {
				t.Errorf("%s in %q after %s: the time %d is %s, want %s", test.text, test.zone, test.after, i+1, at.Format(time.RFC3339), want)
				break
			}
		}
	}
}

// TestMistakes: what is no schedule, and why.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "it has 0 fields instead of five",
		"* * * *":           "it has 4 fields instead of five",
		"0 * * * * *":       "it has 6 fields instead of five",
		"@every 5m":         "there is no \"@every 5m\"; there are @hourly",
		"60 * * * *":        "\"60\" is no minute: those are 0 to 59",
		"* 24 * * *":        "\"24\" is no hour: those are 0 to 23",
		"* * 0 * *":         "\"0\" is no day of the month: those are 1 to 31",
		"* * * 13 *":        "\"13\" is no month: those are 1 to 12, or jan to dec",
		"* * * * 8":         "\"8\" is no day of the week: those are 0 to 7, or sun to sat",
		"* * * * funday":    "\"funday\" is no day of the week",
		"-1 * * * *":        "\"\" is no minute",
		"5- * * * *":        "\"\" is no minute",
		"9-5 * * * *":       "the range \"9-5\" of the minute ends before it begins",
		"*/0 * * * *":       "the step \"0\" of the minute must be a number from 1 to 59",
		"*/x * * * *":       "the step \"x\" of the minute must be",
		"1,,2 * * * *":      "\"\" is no minute",
		"*5 * * * *":        "\"*5\" is no minute",
		"0 0 30 2 *":        "no month has such a day",
		"0 0 31 4,jun,11 *": "no month has such a day",
	} {
		if _, err := cron.Parse(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
}

// TestNextIsTheFirst: no minute between two times is one of them, as a slow search finds them.
func TestNextIsTheFirst(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	s, err := cron.Parse("7,37 1-3 * * *", zone)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	at := time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
	for next := s.Next(at); at.Before(time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)); at = at.Add(time.Minute) {
		wall := at.In(zone)
		due := wall.Hour() >= 1 && wall.Hour() <= 3 && wall.Minute()%30 == 7 && !shown[wall.Format(time.DateTime)]
		shown[wall.Format(time.DateTime)] = due
		if at.Equal(next) != due {
			t.Fatalf("at %s it is due: %v; the schedule says %s", wall, due, next)
		}
		if due {
			next = s.Next(at)
		}
	}
}
