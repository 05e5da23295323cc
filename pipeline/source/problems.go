package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice"
)

// sourceErrors are all mistakes in a source, in order. Each has its position.
type sourceErrors []*sluice.Error

// MaxProblems bounds the list of mistakes: nobody reads more at once.
const MaxProblems = 100

// Error returns one line for each problem.
func (p sourceErrors) Error() string {
	lines := make([]string, len(p))
	for i, e := range p {
		lines[i] = fmt.Sprintf("%d:%d: %s", e.Position.Line, e.Position.Column, e.Message)
	}
	return strings.Join(lines, "\n")
}

// ProblemsOf returns all mistakes behind an error of Parse, in order. Each has its
// position.
func ProblemsOf(err error) []*sluice.Error {
	problems, _ := errors.AsType[sourceErrors](err)
	return problems
}

// joined returns the problems as one error: the first, and how many more there are.
func (p sourceErrors) joined() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b *sluice.Error) int {
		return cmp.Or(a.Position.Line-b.Position.Line, a.Position.Column-b.Position.Column)
	})
	first := p[0]
	message := first.Message
	if first.Position.Line > 0 {
		message = fmt.Sprintf("Line %d: %s", first.Position.Line, message)
	}
	switch more := len(p) - 1; {
	case more == 1:
		message += " There is 1 more problem; pipeline.lint lists all."
	case more > 1:
		message += fmt.Sprintf(" There are %d more problems; pipeline.lint lists all.", more)
	}
	return first.Saying(message).Because(p)
}

// problemf notes a mistake at a node.
func (c *checker) problemf(at *node, format string, args ...any) {
	c.note(sluice.Errorf(sluice.CodePipelineInvalid, format, args...), at.line, at.column)
}

func (c *checker) note(e *sluice.Error, line, column int) {
	if len(c.problems) < MaxProblems {
		c.problems = append(c.problems, e.At(sluice.Position{Line: line, Column: column, Snippet: c.text.snippet(line), Step: c.step}))
	}
}
