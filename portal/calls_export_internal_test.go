package portal

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice"
)

// TestAnExportSaysThatThereIsMore: in its last line, and only if there is.
func TestAnExportSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	for calls, want := range map[int]int{3: 3, maxExported: maxExported, maxExported + 1: maxExported + 1} {
		left := calls
		w := httptest.NewRecorder()
		err := new(Portal).export(w, func(limit int, _ string) (page sluice.TraceAnswer, err error) {
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
