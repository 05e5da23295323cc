package pipelines

import (
	"encoding/json"
	"strings"

	"sluice"
	"sluice/portal/calls"
	"sluice/portal/page"
)

// pipelineRun runs a pipeline with the event of a past call, or with a typed body.
func pipelineRun(v *page.Visit, found Pipeline) error {
	view := pipelineView{Pipeline: found, Ran: true}
	output, err := runPipeline(v, found.Name)
	switch {
	case err == nil:
		view.Output = page.Pretty(output)
	case page.IsMistake(err):
		view.Problem = sluice.AsError(err).Message
	default:
		return err
	}
	return showPipeline(v, view)
}

func runPipeline(v *page.Visit, name string) (json.RawMessage, error) {
	given, body := []any{"name", name}, v.Entered("body")
	if trace := v.Entered("trace"); trace != "" {
		event, err := calls.EventJSON(v, trace)
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
func pipelineTest(v *page.Visit, found Pipeline) error {
	report := page.Ask[sluice.TestReport](v, "pipeline.test", "name", found.Name)
	return showPipeline(v, pipelineView{Pipeline: found, Tested: &report})
}

// addPast adds the calls that a pipeline can be run with to its page.
func addPast(v *page.Visit, view *pipelineView) {
	if view.Listens == "" || !v.User.May(sluice.MaySeePayload) {
		return
	}
	key := view.ListensTo()
	if strings.ContainsAny(key, "*#") || view.Listens == key {
		key = "" // a pattern, or messages: matched below
	}
	const looked, most = "50", 10
	for _, c := range calls.Latest(v, key, looked) {
		if c.Accepted() && len(view.Past) < most && sluice.KeyMatches(view.Listens, sluice.EventPrefix+c.EventKey) {
			view.Past = append(view.Past, c)
		}
	}
}
