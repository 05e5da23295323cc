package pipelines

import (
	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
	"sluice/wording"
)

// A tried says how past calls would end with a draft.
type tried struct {
	*sluice.TryResult

	Tally []tallied
	Calls []triedCall // the first that differ or still fail
	More  []triedCall // the next ones
	Left  int         // how many more there are
}

// A tallied says that a call, or how many calls, would end in some way.
type tallied struct{ Class, Text string }

// A triedCall is a call that a draft was tried on.
type triedCall struct {
	sluice.TryItem
	tallied

	Open bool // its details are open
}

func triedOf(result *sluice.TryResult) *tried {
	t := &tried{TryResult: result, Left: max(0, result.Tried()-result.Same+result.StillFails-len(result.Items))}
	for _, way := range []struct {
		count int
		class string
		text  string
	}{
		{result.Mended, "good", "failed before and would now succeed"},
		{result.New, "good", "would succeed; no pipeline has run on them yet"},
		{result.StillFails, "bad", "failed before and would fail again"},
		{result.Same - result.StillFails, "good", "would succeed as before"},
		{result.Differs - result.Mended - result.New, "wait", "would end in another way"},
		{result.Fails, "bad", "would fail"},
		{result.Unknown, "", "can’t be compared, because it is not known what other systems would have answered"},
	} {
		if way.count > 0 {
			t.Tally = append(t.Tally, tallied{way.class, wording.Count(way.count) + " " + way.text})
		}
	}
	const few, most = 3, 5
	for i, item := range result.Items {
		c := triedCall{item, verdictOn(item), i == 0 || len(result.Items) <= few}
		if i < most {
			t.Calls = append(t.Calls, c)
		} else {
			t.More = append(t.More, c)
		}
	}
	return t
}

// verdictOn says how one call would end.
func verdictOn(item sluice.TryItem) tallied {
	switch {
	case item.Verdict == sluice.TryFails:
		return tallied{"bad", "would fail"}
	case item.Verdict == sluice.TrySame && item.Failed():
		return tallied{"bad", "would fail again"}
	case item.Verdict == sluice.TrySame:
		return tallied{"good", "would succeed as before"}
	case item.Verdict == sluice.TryUnknown:
		return tallied{"", "can’t be compared"}
	case item.Was == nil && item.WouldBe != nil && item.WouldBe.Value != nil:
		return tallied{"good", wouldResult(item)}
	case item.Was == nil:
		return tallied{"good", "would succeed"}
	case item.Failed():
		return tallied{"good", "would now succeed"}
	case item.WouldBe != nil && item.WouldBe.Value != nil && string(item.WouldBe.Value) != string(item.Was.Value):
		return tallied{"wait", wouldResult(item)}
	}
	return tallied{"wait", "would end in another way"}
}

func wouldResult(item sluice.TryItem) string {
	const most = 80
	return "would result in " + page.Clipped(string(item.WouldBe.Value), most)
}

// tryDraft shows how past events, or the event of one call, would end with a draft.
func tryDraft(v *page.Visit, e editor, one bool) error {
	given := []any{"source", e.Source}
	if !e.New {
		given = append(given, "pipeline", e.Name)
	}
	switch e.Event = calls.Event(v, e.Call); {
	case !one:
		given = append(given, "limit", e.Limit)
	case e.Event != nil: // other events that the call caused have its trace id, too
		given = append(given, "traceId", e.Event.TraceID, "eventKey", e.Event.EventKey)
	default:
		given = append(given, "limit", "1")
	}
	result, err := page.Try[sluice.TryResult](v, "pipeline.try", given...)
	if err == nil {
		e.Tried = triedOf(&result)
	}
	e.Problem = v.Mistake(err)
	return renderEditor(v, e)
}
