package pipelines

import (
	"encoding/json"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// pipelineRun runs a pipeline with the event of a past call, or with a typed body.
func pipelineRun(v *page.Visit) error {
	return showPipeline(v, func(view *pipelineView) error {
		view.Body, view.Trace = v.Entered("body"), v.Entered("trace")
		output, err := runPipeline(v, view)
		if err != nil && !page.IsMistake(err) {
			return err
		}
		view.Ran = true
		if err != nil {
			view.Problem = sluice.AsError(err).Message
		} else {
			view.Output = page.Pretty(output)
		}
		return nil
	})
}

func runPipeline(v *page.Visit, view *pipelineView) (json.RawMessage, error) {
	given, body := []any{"name", view.Name}, view.Body
	if view.Trace != "" {
		event, err := calls.EventJSON(v, view.Trace)
		if err != nil {
			return nil, err
		}
		body = string(event)
	}
	if body != "" {
		given = append(given, "body", page.Decoded(body))
	}
	output, _, err := v.Document("pipeline.run", given...)
	return output, err
}

// pipelineTest runs the tests in a pipeline's source.
func pipelineTest(v *page.Visit) error {
	return showPipeline(v, func(view *pipelineView) error {
		result, err := page.Ask[sluice.TestReport](v, "pipeline.test", "name", view.Name)
		view.Tested = &result
		return err
	})
}

// addPast adds the calls that a pipeline can be run with to its page.
func addPast(v *page.Visit, view *pipelineView) error {
	if view.Listens == "" || !v.User.May(sluice.MaySeePayload) {
		return nil
	}
	key := view.ListensTo()
	if strings.ContainsAny(key, "*#") || view.Listens == key {
		key = "" // a pattern, or messages: matched below
	}
	const looked = "50"
	found, err := calls.Latest(v, key, looked)
	if err != nil {
		return err
	}
	const most = 10
	for _, c := range found {
		if c.Accepted() && len(view.Past) < most && sluice.KeyMatches(view.Listens, sluice.EventPrefix+c.EventKey) {
			view.Past = append(view.Past, c)
		}
	}
	return nil
}
