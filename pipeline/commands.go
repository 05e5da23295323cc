package pipeline

import (
	"sluice"
	"sluice/command"
)

// Commands returns the commands about pipelines and dead letters.
func Commands(r *Runner) []command.Command {
	return []command.Command{
		putCommand(r),
		getCommand(r),
		versionsCommand(r),
		rollbackCommand(r),
		deleteCommand(r),
		pauseCommand(r),
		resumeCommand(r),
		runCommand(r),
		lintCommand(r),
		testCommand(r),
		tryCommand(r),
		letterGetCommand(r),
		letterGroupsCommand(r),
		letterReplayCommand(r),
		letterDeleteCommand(r),
	}
}

func checkName(name string) error {
	if sluice.ValidPipelineName(name) {
		return nil
	}
	return sluice.InvalidParameter("name", "The name of a pipeline must be %s.", sluice.PipelineNameRule)
}

// show returns the view of a pipeline, without its source.
func (r *Runner) show(p *sluice.Pipeline) sluice.PipelineView {
	program, _ := r.program(p) // otherwise it is nil
	return viewOf(p, program)
}

// viewOf returns the view of a pipeline, without its source. The program is nil
// if the source has mistakes.
func viewOf(p *sluice.Pipeline, program *Program) sluice.PipelineView {
	v := sluice.PipelineView{Name: p.Name, Owner: p.Owner, Folder: p.Folder, Paused: p.Paused, Version: versionOf(p), ETag: tagOf(p), Created: p.Created, Updated: p.Updated}
	if p.Binding != nil {
		v.Listens = p.Binding.Pattern
	}
	if program != nil {
		v.Description, v.Concurrency, v.Rate = program.description, program.concurrency, program.rate.text
		v.Listens, _ = program.Listens()
	}
	return v
}

// unknownPipeline is the error for a name that no pipeline has.
func unknownPipeline(name string) error {
	return sluice.Errorf(sluice.CodePipelineUnknown, "There is no pipeline %s; pipeline.get lists those there are.", quote(name))
}
