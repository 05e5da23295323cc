package webhooks

import (
	"slices"

	"sluice"
	"sluice/portal/page"
)

// listening returns the pipelines that listen to events.
func listening(v *page.Visit) []sluice.PipelineView {
	const most = "1000"
	found := page.AskIfAllowed[[]sluice.PipelineView](v, "pipeline.get", "limit", most)
	return slices.DeleteFunc(found, func(l sluice.PipelineView) bool { return l.Listens == "" })
}

// listenersOf returns the names of the pipelines that listen to an event key.
func listenersOf(key string, listening []sluice.PipelineView) (names []string) {
	for _, l := range listening {
		if sluice.KeyMatches(l.Listens, sluice.EventPrefix+key) {
			names = append(names, l.Name)
		}
	}
	return names
}
