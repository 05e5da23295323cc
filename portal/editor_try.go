package portal

import (
	"net/http"

	"sluice"
	"sluice/problem"
)

// A tried is what a draft would make of past calls, in the words of people.
type tried struct {
	*sluice.TryResult

	Tally []tallied
	Calls []triedCall // the first that are not the same
	More  []triedCall // the following ones
	Left  int         // how many more there are
}

// A tallied is how many calls would end in one way.
type tallied struct{ Class, Text string }

// A triedCall is one of the calls that would not end as they did.
type triedCall struct {
	sluice.TryItem
	tallied

	Open bool // it can be read at once
}

// tryDraft shows what a draft would make of past events.
func (p *Portal) tryDraft(w http.ResponseWriter, r *http.Request, e editor) error {
	given := args("source", e.Source, "limit", e.Limit)
	if !e.New {
		given = append(given, args("pipeline", e.Name)...)
	}
	result, err := ask[sluice.TryResult](p, r, "pipeline.try", given)
	if err != nil && !isMistake(err) {
		return err
	}
	if err != nil {
		e.Problem = sluice.AsError(err).Message
		return p.renderEditor(w, r, problem.Status(err), e)
	}
	e.Tried = triedOf(&result)
	return p.renderEditor(w, r, http.StatusOK, e)
}

func triedOf(result *sluice.TryResult) *tried {
	t := &tried{TryResult: result, Left: result.Tried() - result.Same - len(result.Items)}
	for _, way := range []struct {
		count int
		class string
		text  string
	}{
		{result.Mended, "good", "failed before and would now succeed"},
		{result.New, "good", "would succeed; no pipeline has run on them yet"},
		{result.Same, "good", "the same as before"},
		{result.Differs - result.Mended - result.New, "wait", "would end in another way"},
		{result.Fails, "bad", "would fail"},
		{result.Unknown, "", "can’t be compared, because it is not known what other systems would have answered"},
	} {
		if way.count > 0 {
			t.Tally = append(t.Tally, tallied{way.class, shownCount(way.count) + " " + way.text})
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
	case item.Verdict == sluice.TryUnknown:
		return tallied{"", "can’t be compared"}
	case item.Was == nil && item.WouldBe != nil && item.WouldBe.Value != nil:
		return tallied{"good", wouldResult(item)}
	case item.Was == nil:
		return tallied{"good", "would succeed"}
	case item.Was.Status == sluice.StatusError:
		return tallied{"good", "would now succeed"}
	case item.WouldBe != nil && item.WouldBe.Value != nil && string(item.WouldBe.Value) != string(item.Was.Value):
		return tallied{"wait", wouldResult(item)}
	}
	return tallied{"wait", "would end in another way"}
}

func wouldResult(item sluice.TryItem) string {
	const most = 80
	return "would result in " + clipped(string(item.WouldBe.Value), most)
}
