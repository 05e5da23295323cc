package pipelines

import (
	"sluice/portal/page"
)

// pipelinePause pauses or resumes a pipeline.
func pipelinePause(v *page.Visit) error {
	command, done := "pipeline.pause", "paused"
	if v.Entered("do") == "resume" {
		command, done = "pipeline.resume", "resumed"
	}
	name := v.Named("name")
	return v.RunThen(pipelinePath(name)+"?done="+done, command, "name", name)
}

// pipelineRetry tries what waits for another attempt now.
func pipelineRetry(v *page.Visit) error {
	name := v.Named("name")
	return v.RunThen(pipelinePath(name)+"?done=retried", "event.retry", "pipeline", name)
}

func pipelineConfirm(v *page.Visit, found Pipeline) error {
	path := pipelinePath(found.Name)
	asked := page.Confirmation{
		Name: found.Name, What: "pipeline", Back: path,
		Effect: "Events don’t start it any more, those that still wait for it are not run, and its versions are gone.",
	}
	if found.Listens != "" && !found.Paused && v.May("pipeline.pause") {
		asked.Instead = &page.Instead{
			Label:  "Pause it instead",
			About:  "Paused, it lets events wait until you resume it; nothing is lost.",
			Action: path + "/pause",
			Name:   "do",
			Value:  "pause",
		}
	}
	return v.Show("confirm", "Delete "+found.Name, asked)
}

// pipelineDelete deletes a pipeline. The next page has the source, to undo that.
func pipelineDelete(v *page.Visit, found Pipeline) error {
	if _, err := v.Run("pipeline.delete", "name", found.Name); err != nil {
		return err
	}
	return v.Show("deleted", "Deleted "+found.Name, found)
}
