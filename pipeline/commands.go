package pipeline

import (
	"time"

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

// A view is a stored pipeline as commands show it.
type view struct {
	Name        string           `json:"name" doc:"Its name."`
	Description string           `json:"description,omitempty" doc:"What its source says about it."`
	Source      string           `json:"source,omitempty" doc:"Its source, in YAML or JSON; lists leave it out."`
	Owner       string           `json:"owner" doc:"Who stored it last, with whose rights it may switch users."`
	Listens     string           `json:"listens,omitempty" doc:"Pattern of the message keys that start it."`
	Paused      bool             `json:"paused,omitempty" doc:"Events wait until it is resumed."`
	Concurrency int              `json:"concurrency,omitempty" doc:"How many runs it has at the same time at most."`
	Rate        string           `json:"rate,omitempty" doc:"How often it begins a run at most, such as 10/s."`
	Folder      bool             `json:"folder" doc:"It is from the folder of the operator."`
	Version     int              `json:"version" doc:"Number of the current source."`
	ETag        string           `json:"etag" doc:"Tells this source from others, for If-Match."`
	Created     time.Time        `json:"created" doc:"When it was first stored."`
	Updated     time.Time        `json:"updated" doc:"When it was last stored."`
	Warnings    []sluice.Finding `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

// Document returns the source alone, for requests that want no JSON.
func (v view) Document() (mediaType, text string) { return "application/yaml", v.Source }

// EntityTag returns what tells this version of the pipeline from others.
func (v view) EntityTag() string { return v.ETag }

// show returns the view of a pipeline, without its source.
func (r *Runner) show(p *sluice.Pipeline) view {
	program, _ := r.program(p) // otherwise it is nil
	return viewOf(p, program)
}

// viewOf returns the view of a pipeline, without its source. The program is nil
// if the source has mistakes.
func viewOf(p *sluice.Pipeline, program *Program) view {
	v := view{Name: p.Name, Owner: p.Owner, Folder: p.Folder, Paused: p.Paused, Version: versionOf(p), ETag: tagOf(p), Created: p.Created, Updated: p.Updated}
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
