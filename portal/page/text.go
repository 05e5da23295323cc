package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/portal/chart"
	"sluice/value"
	"sluice/wording"
)

// functions are what templates can call.
var functions = template.FuncMap{
	"bytes":    func(n any) string { return wording.Bytes(whole(n)) },
	"count":    func(n any) string { return wording.Count(whole(n)) },
	"pretty":   Pretty,
	"reason":   reason,
	"ago":      func(t time.Time) string { return wording.Ago(time.Now(), t.UTC()) },
	"times":    func(n any) string { return wording.Times(whole(n)) },
	"stamp":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"clock":    clock,
	"machine":  func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
	"duration": func(milliseconds float64) string { return wording.Duration(Duration(milliseconds)) },
	"plural":   Plural,
	"last6":    sluice.Last6,
	"in":       within,
	"labels":   labels.Replace,
	"said":     Typographic,
	"word":     func(status any) string { return sluice.Status(fmt.Sprint(status)).Word() },
	"parts":    func(address string) []string { return urlPart.FindAllString(address, -1) },
	"add":      func(a, b int) int { return a + b },
	"words":    strings.Fields,
	"headers":  Headers,
	"spark":    chart.Sparkline,
	"bare":     func(url string) string { return strings.SplitN(url, "?", 2)[0] },
}

// labels replaces the names of parameters in a text by the labels that forms have.
var labels = strings.NewReplacer(
	"`signingSecret`", "signing secret", "`verifyToken`", "verify token", "`dedupe`", "the delivery id",
	"`signature`", "a signature of your own", "'", "’", "`", "",
)

// Typographic replaces the apostrophes in a text.
func Typographic(text string) string { return apostrophe.ReplaceAllString(text, "$1’$2") }

var apostrophe = regexp.MustCompile(`(\pL)'(\pL)`)

// urlPart matches a part of a URL that a line may be broken after.
var urlPart = regexp.MustCompile(`[^/?&=-]*[/?&=-]+|[^/?&=-]+`)

// whole returns an int or int64 as an int64.
func whole(n any) int64 {
	switch v := n.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// Plural returns a number and its noun.
func Plural(n any, one, several string) string { return wording.Plural(whole(n), one, several) }

// Bounds of long texts, of what commands return, and of headers, in bytes of the page. A whole page
// stays well below 100 KB.
const (
	MaxText   = 16 << 10
	MaxOutput = 48 << 10
	maxHeader = 300
)

// Pretty formats JSON, and shortens it.
func Pretty(value any) string { return PrettyUpTo(value, MaxText) }

// PrettyUpTo formats JSON, and shortens it to a size.
func PrettyUpTo(content any, limit int) string {
	var text []byte
	switch v := content.(type) {
	case json.RawMessage:
		text = v
	case string:
		text = []byte(v)
	default:
		encoded, err := value.Marshal(v)
		if err != nil {
			return "(can't be shown)"
		}
		text = encoded
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err == nil {
		text = []byte(unescaped.Replace(indented.String()))
	}
	return Shortened(strings.TrimSpace(string(text)), limit)
}

// unescaped replaces what JSON escapes for HTML; templates do that themselves. It
// consumes pairs of backslashes, so that the second of them starts no escape.
var unescaped = strings.NewReplacer(
	`\\`, `\\`, `\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&",
)

// Shortened returns the start of a text that takes at most limit bytes of a page,
// where templates escape some characters.
func Shortened(text string, limit int) string {
	size := 0
	for i, c := range text {
		switch c {
		case '<', '>', '&', '"', '\'', '+':
			size += len("&#34;")
		default:
			size += utf8.RuneLen(c)
		}
		if size > limit {
			return text[:i] + "\n… (" + wording.Bytes(len(text)) + " in all; the API returns all of it)"
		}
	}
	return text
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

// within reports whether a path belongs to a section of the portal.
func within(path, section string) bool {
	return path == section || section != "/" && strings.HasPrefix(path, section+"/")
}

// reason returns why a call failed, Clipped to a line.
func reason(c sluice.Call) string {
	const most = 160
	if c.Status == sluice.StatusOK {
		return "" // an attempt before may have failed
	}
	for _, run := range slices.Backward(c.Runs) {
		if run.Error != nil {
			return Clipped(stepPrefix.ReplaceAllString(run.Error.Detail, ""), most)
		}
	}
	return ""
}

// Headers returns Shortened headers, sorted by name.
func Headers(headers map[string]string) (all []sluice.Header) {
	const most = 40
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if len(all) < most {
			all = append(all, sluice.Header{Name: Clipped(name, 60), Value: Shortened(headers[name], maxHeader)})
		}
	}
	return all
}

// IsConnection reports whether a header is about the connection or the signature, not
// about what was sent.
func IsConnection(name string) bool {
	switch strings.ToLower(name) {
	case "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent",
		"sec-fetch-site":
		return true
	}
	return strings.HasPrefix(name, "x-forwarded-") || strings.Contains(name, "signature")
}

// stepPrefix matches the start of an error's detail: the step, which a line has no
// space for.
var stepPrefix = regexp.MustCompile(`^Step \d+, [^:]* \(line \d+\): `)

// Duration converts milliseconds.
func Duration(milliseconds float64) time.Duration {
	return time.Duration(milliseconds * float64(time.Millisecond))
}

// Clipped returns the first characters of a text.
func Clipped(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// IsText reports whether bytes are a text that people can read.
func IsText(content []byte) bool {
	return utf8.Valid(content) && !strings.ContainsFunc(string(content), func(c rune) bool {
		return unicode.IsControl(c) && !unicode.IsSpace(c)
	})
}

// HiddenToken hides a token, except for its end.
func HiddenToken(token string) string { return "••••••••-" + sluice.Last6(token) }
