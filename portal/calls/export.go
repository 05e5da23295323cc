package calls

import (
	"fmt"
	"net/http"
	"strconv"

	"sluice"
	"sluice/portal/page"
	"sluice/value"
)

// maxExported bounds the calls of an export. The list of calls shows the bound.
const maxExported = 10_000

// exportSelected exports the calls of trace ids.
func exportSelected(v *page.Visit, traces []string) error {
	calls := make([]sluice.CallView, 0, len(traces))
	for _, trace := range traces {
		calls = append(calls, Find(v, "traceId", trace, "limit", "20").Items...)
	}
	if v.Failed() {
		return nil
	}
	startExport(v.W)
	writeLines(v.W, calls)
	return nil
}

// export exports the calls of a list, newest first.
func export(v *page.Visit) error {
	filter := filterOf(v.Base, v.R.URL.Query())
	return exportAll(v, func(limit int, after string) (sluice.TraceAnswer, error) {
		return page.Try[sluice.TraceAnswer](v, "trace.get", filter.args(), "limit", strconv.Itoa(limit), "after", after)
	})
}

// exportAll writes the calls that find returns page by page. If there are too many, the
// last line says so.
func exportAll(v *page.Visit, find func(limit int, after string) (sluice.TraceAnswer, error)) error {
	const atOnce = 500
	after := ""
	for left := maxExported; left > 0; {
		found, err := find(min(atOnce, left), after)
		if err != nil && left == maxExported {
			return err
		}
		if err != nil {
			v.Log.Warn("An export of calls is not complete.", "error", err)
			panic(http.ErrAbortHandler) // or the browser takes the file for complete
		}
		if after == "" {
			startExport(v.W)
		}
		writeLines(v.W, found.Items)
		left -= len(found.Items)
		if after = found.Next; after == "" {
			return nil
		}
	}
	const incomplete = "These are the newest %d calls. There are older ones: export those up to the time of the last " +
		"one."
	writeLines(v.W, []map[string]string{{"incomplete": fmt.Sprintf(incomplete, maxExported)}})
	return nil
}

func startExport(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
}

func writeLines[T any](w http.ResponseWriter, lines []T) {
	for _, line := range lines {
		if err := value.Encode(w, line); err != nil {
			return // the browser has gone
		}
	}
}
