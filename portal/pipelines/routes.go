// Package pipelines has the pages about pipelines: their list, state, versions and runs, and the editor.
package pipelines

import (
	"embed"

	"sluice/portal/page"
)

//go:embed *.html
var templates embed.FS

// Add adds the pages to a site.
func Add(s *page.Site) {
	s.Add(templates)
	s.Pages(map[string]page.Endpoint{
		"GET /pipelines":              pipelinesPage,
		"GET /pipelines/new":          editorNew,
		"POST /pipelines/new":         editorSave,
		"POST /pipelines/{name}/edit": editorSave,
		"POST /editor/check":          editorCheck,
		"GET /editor/words":           wordList,
		"POST /pipelines/{name}/versions/{version}/rollback": versionRollback,
		"POST /pipelines/{name}/pause":                       pipelinePause,
		"POST /pipelines/{name}/retry":                       pipelineRetry,
		"GET /work":                                          workPage,
		"GET /work/{queue}":                                  workQueue,
		"POST /work/{queue}/take":                            workTake,
		"POST /work/{queue}/answer":                          workAnswer,
	})
	page.PagesOf(s, pipelineNamed, map[string]func(*page.Visit, Pipeline) error{
		"GET /pipelines/{name}":                    pipelinePage,
		"GET /pipelines/{name}/edit":               editorPage,
		"GET /pipelines/{name}/versions/{version}": versionPage,
		"POST /pipelines/{name}/run":               pipelineRun,
		"POST /pipelines/{name}/test":              pipelineTest,
		"GET /pipelines/{name}/delete":             pipelineConfirm,
		"POST /pipelines/{name}/delete":            pipelineDelete,
	})
}
