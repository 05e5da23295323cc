package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about pipelines and dead letters.
func Commands(r *Runner) []command.Command {
	missing := command.Missing(func(_ context.Context, _, name string) error { return unknownPipeline(name) })
	return []command.Command{
		command.New("pipeline.put", "Store a pipeline under a name, replacing the one of that name if there is one. "+
			"Events that it listens to reach it from then on.", r.put),
		command.New("pipeline.get",
			"List the stored pipelines in the order of their names, or show one with its source.", r.get,
			command.Lists[sluice.PipelineView], missing),
		command.New("pipeline.versions", "List the latest 20 sources of a pipeline, newest first: who stored each, "+
			"and when. pipeline.get shows one.", r.versions, command.ReadOnly, missing),
		command.New("pipeline.rollback", "Store an earlier version of a pipeline again, as a new version that is "+
			"yours. It is checked as by pipeline.put.", r.rollback, missing),
		command.Removing("pipeline.delete", "Delete a stored pipeline: events no longer start it, and those that "+
			"still wait for it are not run.", r.delete, missing),
		command.New("pipeline.pause", "Pause a pipeline: events wait until pipeline.resume, and runs that have "+
			"begun go on. Storing the pipeline again does not end the pause.", r.pause, missing),
		command.New("pipeline.resume", "End the pause of a pipeline, or of all of them: it runs the events that "+
			"waited, in their order.", r.resume, command.OneOrAll[sluice.PipelineView], missing),
		command.New("pipeline.run", "Run a pipeline as yourself and answer with its final body.", r.direct,
			command.Traffic, missing),
		command.New("pipeline.lint", "Check a pipeline, and list all its mistakes with their lines and columns.",
			r.lint, command.ReadOnly, missing),
		command.New("pipeline.test", "Run the tests that a pipeline carries. Nothing outside is called: stubs answer.",
			r.test, command.ReadOnly, missing),
		command.New("pipeline.try", "Try a draft of a pipeline on past events, and compare what it would make of "+
			"them with what was made of them. Nothing is done outside: commands that reach outside answer as "+
			"recorded, otherwise as the stubs of the draft's first test say; otherwise the outcome is unknown. It "+
			"takes the permission trace.payload: a draft can tell all that callers have sent.", r.try,
			command.ReadOnly, missing),
		command.New("deadletter.get", "List dead letters, newest first: events that a pipeline failed on in all "+
			"its attempts. With letter, the event itself is shown to users who may see payloads.", r.showLetters,
			command.ReadOnly),
		command.New("deadletter.groups", "Count dead letters by pipeline and error code, the largest group first.",
			r.groups, command.ReadOnly),
		command.New("deadletter.replay", "Replay dead letters, the oldest first: each event goes again to the "+
			"pipeline that failed on it, under a new trace id, and is no dead letter any more.", r.replayLetters),
		command.New("deadletter.delete", "Delete dead letters. Their events can't be replayed any more.",
			r.deleteLetters),
	}
}

func checkName(name string) error {
	if sluice.ValidPipelineName(name) {
		return nil
	}
	return sluice.InvalidParameter("name", "The name of a pipeline must be %s.", sluice.PipelineNameRule)
}
