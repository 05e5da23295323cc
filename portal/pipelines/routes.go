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
	s.Page("GET /pipelines", pipelinesPage)
	s.Page("GET /pipelines/new", editorNew)
	s.Form("/pipelines/new", editorSave)
	s.Page("GET /pipelines/{name}", pipelinePage)
	s.Page("GET /pipelines/{name}/edit", page.With(pipelineNamed, editorPage))
	s.Form("/pipelines/{name}/edit", editorSave)
	s.Form("/editor/check", editorCheck)
	s.Page("GET /editor/words", wordList)
	s.Page("GET /pipelines/{name}/versions/{version}", versionPage)
	s.Form("/pipelines/{name}/versions/{version}/rollback", versionRollback)
	s.Page("GET /work", workPage)
	s.Page("GET /work/{queue}", workQueue)
	s.Page("POST /work/{queue}/take", workTake)
	s.Form("/work/{queue}/answer", workAnswer)
	s.Form("/pipelines/{name}/run", pipelineRun)
	s.Form("/pipelines/{name}/pause", pipelinePause)
	s.Page("POST /pipelines/{name}/retry", pipelineRetry)
	s.Page("POST /pipelines/{name}/test", pipelineTest)
	s.Page("GET /pipelines/{name}/delete", page.With(pipelineNamed, pipelineConfirm))
	s.Page("POST /pipelines/{name}/delete", page.With(pipelineNamed, pipelineDelete))
}
