package command

import (
	_ "embed"
	"sync"

	"go.yaml.in/yaml/v3"
)

// An Example is a call of a command, and what it gives.
type Example struct {
	Call   string // its parameters as YAML
	Answer string // as JSON; "" if there is none

	// Gives says what the answer is where no type does.
	Gives string
}

//go:embed examples.yaml
var exampleFile []byte

// examples has the examples by the names of their commands. They are read when they are first needed.
var examples = sync.OnceValue(func() (all map[string]Example) {
	if err := yaml.Unmarshal(exampleFile, &all); err != nil {
		panic(err) // the file is in the program
	}
	return all
})

// Example returns the example of the command.
func (c Command) Example() Example { return examples()[c.Name] }
