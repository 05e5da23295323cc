package rehearse

import (
	"slices"
	"strings"

	"sluice"
	"sluice/pipeline/run"
	"sluice/value"
)

// verdictOf compares the ending of a draft with that of a pipeline, which is nil if none
// has run.
func verdictOf(was, wouldBe *ending) sluice.Verdict {
	switch {
	case was != nil && was.sameAs(wouldBe):
		return sluice.TrySame
	case wouldBe.Status == sluice.StatusError:
		return sluice.TryFails
	}
	return sluice.TryDiffers
}

func (e *ending) sameAs(other *ending) bool {
	return e.Status == other.Status && e.Code == other.Code && slices.EqualFunc(e.Calls, other.Calls, sameCall) &&
		(e.Status != sluice.StatusOK || !e.known || value.Equal(e.value, other.value))
}

// sameCall reports whether two calls are the same, as far as that is known.
func sameCall(a, b sluice.TryCall) bool {
	if a.Command != b.Command || (a.HTTP == nil) != (b.HTTP == nil) {
		return false
	}
	return a.HTTP == nil || a.HTTP.Method == b.HTTP.Method && a.HTTP.URL == b.HTTP.URL &&
		(a.HTTP.Request == "" || b.HTTP.Request == "" || lasting(a.HTTP.Request) == lasting(b.HTTP.Request))
}

// lasting returns a request without the headers that change with each sending.
func lasting(request string) string {
	head, body, _ := strings.Cut(request, "\n\n")
	lines := slices.DeleteFunc(strings.Split(head, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"traceparent", "tracestate", "webhook-timestamp", "webhook-signature", ""}, name)
	})
	return strings.Join(lines, "\n") + "\n\n" + body
}

// shown returns an ending for people, shortened.
func (e *ending) shown() *sluice.TryOutcome {
	if e == nil {
		return nil
	}
	o := e.TryOutcome
	o.Calls = o.Calls[:min(len(o.Calls), maxTryCalls)]
	if len(o.Value) > run.MaxMessage {
		o.Value = value.AppendString(nil, startOf(string(o.Value), run.MaxMessage))
	}
	return &o
}

// startOf returns the beginning of a text.
func startOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(run.Cut)], "") + run.Cut
}
