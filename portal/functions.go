package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sluice"
)

// functions are those that templates can use.
var functions = template.FuncMap{
	"bytes":    func(n any) string { return shownBytes(whole(n)) },
	"count":    func(n any) string { return shownCount(whole(n)) },
	"pretty":   pretty,
	"reason":   reason,
	"ago":      ago,
	"stamp":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"clock":    clock,
	"machine":  func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
	"duration": func(milliseconds float64) string { return shownDuration(duration(milliseconds)) },
	"plural":   plural,
	"last6":    lastSix,
	"in":       within,
	"labels":   labels.Replace,
	"said":     typographic,
	"word":     func(status any) string { return sluice.Status(fmt.Sprint(status)).Word() },
	"parts":    func(address string) []string { return urlPart.FindAllString(address, -1) },
	"add":      func(a, b int) int { return a + b },
}

// labels are how forms call parameters that a text names.
var labels = strings.NewReplacer("`signingSecret`", "signing secret", "`verifyToken`", "verify token", "`dedupe`", "the delivery id", "`signature`", "a signature of your own", "'", "’", "`", "")

// typographic returns a text of a command with the apostrophes of pages.
func typographic(text string) string { return apostrophe.ReplaceAllString(text, "$1’$2") }

var apostrophe = regexp.MustCompile(`(\pL)'(\pL)`)

// urlPart is a part of a URL behind which a line may end.
var urlPart = regexp.MustCompile(`[^/?&=-]*[/?&=-]+|[^/?&=-]+`)

// whole returns an integer of whichever type.
func whole(n any) int64 {
	switch v := n.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// plural returns a number with the word for one or for several.
func plural(n any, one, several string) string {
	if whole(n) == 1 {
		return "1 " + one
	}
	return shownCount(whole(n)) + " " + several
}

// Bounds of what a page shows of texts that can be long, as the page writes
// them. All of one page together are well below 100 KB.
const (
	maxShown  = 16 << 10
	maxOutput = 48 << 10
	maxHeader = 300
)

// pretty returns JSON with line breaks, shortened.
func pretty(value any) string { return prettyUpTo(value, maxShown) }

func prettyUpTo(value any, limit int) string {
	var text []byte
	switch v := value.(type) {
	case json.RawMessage:
		text = v
	case string:
		text = []byte(v)
	default:
		content, err := json.Marshal(v)
		if err != nil {
			return "(can't be shown)"
		}
		text = content
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err == nil {
		text = escapes.ReplaceAllFunc(indented.Bytes(), unescape)
	}
	return shortened(strings.TrimSpace(string(text)), limit)
}

// escapes are those in JSON for the sake of HTML, which the templates take care
// of. A pair of backslashes is matched so that the second begins nothing.
var escapes = regexp.MustCompile(`(?i)\\(?:\\|u003c|u003e|u0026)`)

func unescape(escape []byte) []byte {
	switch strings.ToLower(string(escape)) {
	case `\u003c`:
		return []byte("<")
	case `\u003e`:
		return []byte(">")
	case `\u0026`:
		return []byte("&")
	}
	return escape
}

// shortened returns the beginning of a text that takes at most limit bytes in a
// page, where some characters take more.
func shortened(text string, limit int) string {
	size := 0
	for i, c := range text {
		switch c {
		case '<', '>', '&', '"', '\'', '+':
			size += len("&#34;")
		default:
			size += utf8.RuneLen(c)
		}
		if size > limit {
			return text[:i] + "\n… (" + shownBytes(len(text)) + " in all; the API returns all of it)"
		}
	}
	return text
}

// shownBytes returns a size for people.
func shownBytes[N int | int64](n N) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/step, 0
	for value >= step && unit < 3 {
		value /= step
		unit++
	}
	return strconv.FormatFloat(value, 'f', decimals(value), 64) + " " + []string{"kB", "MB", "GB", "TB"}[unit]
}

func decimals(value float64) int {
	if value < 10 && value != float64(int(value)) {
		return 1
	}
	return 0
}

// shownCount returns a number with its thousands apart.
func shownCount[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ago returns how long ago something was.
func ago(t time.Time) string {
	since := time.Since(t)
	switch {
	case since < -time.Second:
		return t.UTC().Format("2 Jan 15:04")
	case since < 5*time.Second:
		return "just now"
	case since < time.Minute:
		return fmt.Sprintf("%d s ago", int(since.Seconds()))
	case since < time.Hour:
		return fmt.Sprintf("%d min ago", int(since.Minutes()))
	case since < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(since.Hours()))
	case since < 30*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(since.Hours()/24))
	default:
		return t.UTC().Format("2 Jan 2006")
	}
}

// clock returns the time of day, with the date unless it is today.
func clock(t time.Time) string {
	now := time.Now().UTC()
	switch t = t.UTC(); {
	case t.Year() != now.Year():
		return t.Format("2 Jan 2006 15:04:05")
	case t.YearDay() != now.YearDay():
		return t.Format("2 Jan 15:04:05")
	}
	return t.Format("15:04:05")
}

// shownDuration returns a duration with about three digits.
func shownDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}

func lastSix(token string) string {
	runes := []rune(token)
	return string(runes[max(0, len(runes)-6):])
}

// within reports whether a path belongs to a section of the portal.
func within(path, section string) bool {
	return path == section || section != "/" && strings.HasPrefix(path, section+"/")
}
