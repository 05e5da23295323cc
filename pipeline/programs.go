package pipeline

import (
	"context"
	"slices"
	"sync"

	"sluice"
	"sluice/pipeline/source"
)

// programs are those of stored pipelines, each parsed once for each source.
type programs struct {
	mu     sync.Mutex
	byName map[string]compiled
}

// compiled is the result of parsing a source.
type compiled struct {
	source  string
	program *source.Program
	err     error
}

// program returns the program of a stored pipeline.
func (r *Runner) program(p *sluice.Pipeline) (*source.Program, error) {
	if known, ok := r.programs.get(p.Name); ok && known.source == p.Source {
		return known.program, known.err
	}
	program, err := r.Parse(p.Source)
	r.programs.put(p.Name, compiled{p.Source, program, err})
	return program, err
}

func (p *programs) get(name string) (compiled, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.byName[name]
	return known, ok
}

func (p *programs) put(name string, c compiled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byName[name] = c
}

// find returns a stored pipeline.
func (r *Runner) find(ctx context.Context, name string) (*sluice.Pipeline, error) {
	stored, err := r.Store.Get(ctx, name)
	if stored == nil && err == nil {
		err = unknownPipeline(name)
	}
	return stored, err
}

// UsersOf returns the stored pipelines whose source names a secret, in the order of
// their names. A source that has mistakes by now names none.
func (r *Runner) UsersOf(secret string) (names []string) {
	for _, stored := range r.Store.All() {
		if program, err := r.program(stored); err == nil && slices.Contains(secretsIn(program), secret) {
			names = append(names, stored.Name)
		}
	}
	slices.Sort(names)
	return names
}

// keepOnly drops the programs of pipelines that are no longer stored.
func (p *programs) keepOnly(stored map[string]*sluice.Pipeline) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.byName {
		if stored[name] == nil {
			delete(p.byName, name)
		}
	}
}

// unknownPipeline is the error for a name that no pipeline has.
func unknownPipeline(name string) error {
	return sluice.Errorf(sluice.CodePipelineUnknown, "There is no pipeline %s; pipeline.get lists those there are.", source.Quote(name))
}
