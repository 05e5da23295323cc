package pipeline

import (
	"context"
	"slices"

	"sluice"
	"sluice/expression"
	"sluice/pipeline/source"
)

// compiled is the result of parsing the source of a stored pipeline.
type compiled struct {
	source  string
	program *source.Program
	err     error
}

// program returns the program of a stored pipeline. Each source is parsed once.
func (r *Runner) program(p *sluice.Pipeline) (*source.Program, error) {
	stored, _ := r.programs.Load(p.Name)
	if known, ok := stored.(compiled); ok && known.source == p.Source {
		return known.program, known.err
	}
	program, err := r.Parse(p.Source)
	r.programs.Store(p.Name, compiled{p.Source, program, err})
	return program, err
}

func (r *Runner) find(ctx context.Context, name string) (*sluice.Pipeline, error) {
	stored, err := r.Store.Get(ctx, name)
	if stored == nil && err == nil {
		err = unknownPipeline(name)
	}
	return stored, err
}

// UsersOf returns the names of the pipelines whose source names a secret, sorted. A
// source with mistakes names none.
func (r *Runner) UsersOf(secret string) (names []string) {
	for _, stored := range r.Store.All() {
		if program, err := r.program(stored); err == nil && slices.Contains(secretsIn(program), secret) {
			names = append(names, stored.Name)
		}
	}
	slices.Sort(names)
	return names
}

// keepPrograms drops the programs of pipelines that are no longer stored.
func (r *Runner) keepPrograms(stored map[string]*sluice.Pipeline) {
	r.programs.Range(func(name, _ any) bool {
		if stored[name.(string)] == nil {
			r.programs.Delete(name)
		}
		return true
	})
}

func unknownPipeline(name string) error {
	return sluice.CodePipelineUnknown.Errorf("There is no pipeline %s; pipeline.get lists those there are.",
		sluice.Quote(name))
}

// Parse turns a source into a program.
func (r *Runner) Parse(text string) (*source.Program, error) {
	return source.Parse(text, r.Commands(), r.Language)
}

// parse is Parse for a caller: what the parser needs is taken from the memory of all runs.
func (r *Runner) parse(ctx context.Context, text string) (*source.Program, error) {
	expansion, long := expression.Expansion("convert.fromYaml", text)
	release, err := r.reserve(ctx, expansion, long)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.Parse(text)
}
