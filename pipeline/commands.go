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
