package pipeline

import (
	"context"
	"slices"

	"sluice"
)

// UsersOf returns the stored pipelines whose source names a secret, in the order of
// their names. A source that has mistakes by now names none.
func (r *Runner) UsersOf(secret string) (names []string) {
	for _, stored := range r.Store.All() {
		if program, err := r.program(stored); err == nil && slices.Contains(program.secrets(), secret) {
			names = append(names, stored.Name)
		}
	}
	slices.Sort(names)
	return names
}

// secrets returns the names of the secrets that a program asks for: those whose
// absence would be found when it is stored.
func (p *Program) secrets() (names []string) {
	asked := &Runner{RunnerOptions: RunnerOptions{
		User: func(_ context.Context, name string) (sluice.User, error) { return sluice.User{Name: name}, nil },
		Secret: func(_ context.Context, name string) (string, error) {
			names = append(names, name)
			return "", nil
		},
	}}
	_, _ = asked.checkRights(context.Background(), p, folderOwner()) // who may use them is not asked here
	return names
}
