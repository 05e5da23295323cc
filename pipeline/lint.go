package pipeline

import (
	"context"
	"errors"
	"slices"

	"sluice"
	"sluice/command"
)

// sourceParams are those of commands that examine a source.
type sourceParams struct {
	Name   string `json:"name" doc:"Name of the stored pipeline: it is taken if no source is given, otherwise the source is meant for it."`
	Source string `json:"source" body:"only" doc:"The pipeline as YAML or JSON."`
}

// source returns the source that a command is to examine.
func (r *Runner) source(ctx context.Context, p sourceParams) (string, error) {
	if p.Source != "" {
		return p.Source, nil
	}
	if p.Name == "" {
		return "", sluice.InvalidParameter("source", "Give the source of a pipeline as the body, or the name of a stored one.")
	}
	stored, err := r.find(ctx, p.Name)
	if err != nil {
		return "", err
	}
	return stored.Source, nil
}

func lintCommand(r *Runner) command.Command {
	return command.New("pipeline.lint", "Check a pipeline, and list all its mistakes with their lines and columns.",
		func(ctx context.Context, p sourceParams) (sluice.LintResult, error) {
			source, err := r.source(ctx, p)
			if err != nil {
				return sluice.LintResult{}, err
			}
			program, err := r.Parse(source)
			if err == nil {
				return r.lintRights(ctx, p.Name, program)
			}
			problems, ok := errors.AsType[SourceErrors](err)
			if !ok {
				return sluice.LintResult{}, err
			}
			result := sluice.LintResult{Problems: make([]sluice.Finding, len(problems))}
			for i, e := range problems {
				result.Problems[i] = findingOf(e)
			}
			return result, nil
		}, command.ReadOnly)
}

// lintRights returns what is wrong with a program without mistakes, if the
// caller stored it.
func (r *Runner) lintRights(ctx context.Context, name string, p *Program) (result sluice.LintResult, err error) {
	user := sluice.UserFrom(ctx)
	found, err := r.checkRights(ctx, p, user)
	if err != nil {
		return result, err
	}
	result.Problems = append([]sluice.Finding{}, found...)
	if r.User != nil && p.mayListen(user) != nil {
		result.Problems = slices.Insert(result.Problems, 0, sluice.Finding{
			Line: p.trigger.line, Column: p.trigger.column, Step: p.trigger.command, Command: p.trigger.command, Permission: p.trigger.command, Code: sluice.CodeNotPermitted.Word,
			Message: "You may not store pipelines that listen: you lack " + p.trigger.command + ".",
			Hint:    "Ask an administrator for a role that has the permission " + p.trigger.command + ".",
		})
	}
	result.Valid, result.RightsChecked = len(result.Problems) == 0, r.User != nil
	result.Listens, _ = p.Listens()
	var before *sluice.Pipeline
	if name != "" {
		if before, err = r.Store.Get(ctx, name); err != nil {
			return result, err
		}
	}
	lent, err := r.lentRights(ctx, p, before, user, result.Problems)
	result.Warnings = slices.Concat(lent, r.unknownKey(p))
	return result, err
}

func findingOf(e *sluice.Error) sluice.Finding {
	return sluice.Finding{
		Line:      e.Place.Line,
		Column:    e.Place.Column,
		Snippet:   e.Place.Snippet,
		Step:      e.Place.Step,
		Code:      e.Code,
		Parameter: e.Parameter,
		Message:   e.Message,
	}
}
