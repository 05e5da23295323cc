package calls

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/portal/page"

	"sluice"
)

// TestTheNextCallIsTheNextOne: however many calls came after it, and however late.
func TestTheNextCallIsTheNextOne(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	var all []sluice.CallView // newest first
	for i := range 50_000 {
		// Many a second, a week later as many in a second, and a single one.
		all = append(all,
			sluice.CallView{Call: sluice.Call{Time: begin.Add(time.Duration(i) * 7 * time.Millisecond)}},
			sluice.CallView{Call: sluice.Call{Time: begin.Add(7*24*time.Hour + time.Duration(i)*20*time.Microsecond)}})
	}
	all = append(all, sluice.CallView{Call: sluice.Call{Time: begin.Add(300 * 24 * time.Hour)}})
	slices.SortFunc(all, func(a, b sluice.CallView) int { return b.Time.Compare(a.Time) })
	asked, after := 0, time.Time{}
	find := func(from, to time.Time) (found []sluice.CallView, more bool) {
		asked++
		first, _ := slices.BinarySearchFunc(all, to, func(c sluice.CallView, t time.Time) int { return t.Compare(c.Time) })
		for _, c := range all[first:] {
			if c.Time.Before(from) || !c.Time.After(after) {
				break
			}
			if len(found) == 100 {
				return found, true
			}
			found = append(found, c)
		}
		return found, false
	}
	now := all[0].Time.Add(time.Hour)
	for i := len(all) - 1; i > 0; i = max(i-997, min(i-1, 1)) {
		asked, after = 0, all[i].Time
		next := nextAfter(after, now, find)
		if next == nil || !next.Time.Equal(all[i-1].Time) {
			t.Fatalf("after %v comes %v; want %v", all[i].Time, next, all[i-1].Time)
		}
		if asked > 40 {
			t.Errorf("%d questions lead from %v to %v", asked, all[i].Time, next.Time)
		}
	}
	after = all[0].Time
	if next := nextAfter(after, now, find); next != nil {
		t.Errorf("after the last one comes %v", next)
	}
}

// TestAnExportSaysThatThereIsMore: in its last line, and only if there is.
func TestAnExportSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	for calls, want := range map[int]int{3: 3, maxExported: maxExported, maxExported + 1: maxExported + 1} {
		left := calls
		w := httptest.NewRecorder()
		err := exportAll(&page.Visit{W: w}, func(limit int, _ string) (page sluice.TraceAnswer, err error) {
			page.Items = slices.Repeat([]sluice.CallView{{Call: sluice.Call{TraceID: "a:1"}}}, min(limit, left))
			if left -= len(page.Items); left > 0 {
				page.Next = "more"
			}
			return page, nil
		})
		lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		if err != nil || len(lines) != want {
			t.Errorf("%d calls make %d lines, %v; want %d", calls, len(lines), err, want)
		}
		if says := strings.Contains(lines[len(lines)-1], `{"incomplete":"These are the newest 10000 calls.`); says != (calls > maxExported) {
			t.Errorf("the last line of %d calls is %s", calls, lines[len(lines)-1])
		}
	}
}

// TestEventPaths: an event is shown as the expressions that yield its values,
// however large or deep it is.
func TestEventPaths(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		encoding sluice.Encoding
		payload  string
		want     []string // lines
		more     bool
	}{
		"an object":         {sluice.EncodingJSON, `{"b":{"e-mail":"<b>"},"a":null,"n":12345678901234567890}`, []string{`body.payload.b["e-mail"] "<b>"`, `body.payload.a null`, `body.payload.n 12345678901234567890`}, false},
		"a long list":       {sluice.EncodingJSON, `[1,{"x":2},[],4,5]`, []string{`body.payload[0] 1`, `body.payload[1].x 2`, `body.payload[2] []`, `len(body.payload) 5`}, false},
		"a text":            {sluice.EncodingText, `"hello"`, []string{`body.payload "hello"`}, false},
		"too much":          {sluice.EncodingJSON, `{"a":0` + strings.Repeat(`,"a":1`, 1000) + `}`, nil, true},
		"too deep":          {sluice.EncodingJSON, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), []string{"body.payload" + strings.Repeat("[0]", 12) + " " + strings.Repeat("[", 119) + "…"}, false},
		"bytes that are":    {sluice.EncodingBase64, `{"origin":"` + base64.StdEncoding.EncodeToString([]byte(`{"n":1}`)) + `"}`, []string{`convert.fromJson(convert.fromBase64(body.payload.origin)).n 1`}, false},
		"bytes that aren’t": {sluice.EncodingBase64, `{"origin":"` + base64.StdEncoding.EncodeToString([]byte("hi")) + `"}`, []string{`convert.fromBase64(body.payload.origin) "hi"`}, false},
	} {
		event := eventSeen(sluice.CallView{PayloadEncoding: test.encoding, Payload: json.RawMessage(test.payload)})
		var got []string
		for _, p := range event.Paths {
			got = append(got, p.Path+" "+p.Value)
		}
		if event.More != test.more || test.want != nil && strings.Join(got, "\n") != strings.Join(test.want, "\n") || len(got) > maxPaths {
			t.Errorf("%s: %v %d lines:\n%s", name, event.More, len(got), strings.Join(got, "\n"))
		}
	}
}
