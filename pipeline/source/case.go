package source

import "sluice"

// A Case is one test of a source: the start of a run, the outputs of stubbed commands, and the end
// that is expected. It has no expressions.
type Case struct {
	Name    string
	Event   map[string]any
	Body    any
	Vars    map[string]any
	Secrets map[string]any
	User    sluice.User
	Stubs   map[string]Stub
	Expect  Expectation
}

// A Stub is the output or the error of a command in a test.
type Stub struct {
	Output any
	Error  *sluice.Error
}

// An Expectation is what a test wants. A nil field accepts anything.
type Expectation struct {
	Body   *any
	Vars   map[string]any
	Error  map[string]any
	Passed bool   // the event must be passed over
	Calls  []Call // nil: any; empty: none
}

// A Call is a call of a stubbed command, with some of its parameters.
type Call struct {
	Command string
	Params  map[string]any
}

const maxTests = 100

// tests reads the section of that name.
func (c *checker) tests(n *node, _ string) []Case {
	if n.kind != list || len(n.items) > maxTests {
		c.problemf(n, "tests must be a list of at most %d tests.", maxTests)
		return nil
	}
	cases := make([]Case, len(n.items))
	seen := map[string]bool{}
	for i, item := range n.items {
		cases[i] = c.testCase(item)
		if name := cases[i].Name; name == "" || seen[name] {
			c.problemf(item, "A test needs a name that no other test has.")
		}
		seen[cases[i].Name] = true
	}
	return cases
}

func (c *checker) testCase(n *node) Case {
	t := Case{User: sluice.User{Name: sluice.AnonymousName, Roles: []string{sluice.AnonymousRole}}}
	c.options(n, "A test", map[string]reader{
		"name":    c.text(&t.Name),
		"event":   into(&t.Event, c.objectOf),
		"body":    func(n *node, _ string) { t.Body = n.value() },
		"vars":    into(&t.Vars, c.objectOf),
		"secrets": into(&t.Secrets, c.secretTexts),
		"user":    func(n *node, name string) { t.User = sluice.User{Name: c.textOf(n, name)} },
		"stub":    into(&t.Stubs, c.stubs),
		"expect":  into(&t.Expect, c.expectation),
	})
	if t.Event != nil && t.Body != nil {
		c.problemf(n, "A test starts with an event or with a body, not with both.")
	}
	return t
}

func (c *checker) objectOf(n *node, name string) map[string]any {
	fields, ok := n.value().(map[string]any)
	if !ok {
		c.problemf(n, "%s must be an object, not %s.", name, n.describe())
	}
	return fields
}

func (c *checker) secretTexts(n *node, name string) map[string]any {
	for _, item := range n.entries() {
		c.textOf(item, "A secret")
	}
	return c.objectOf(n, name)
}

func (c *checker) stubs(n *node, name string) map[string]Stub {
	stubs := map[string]Stub{}
	if c.objectOf(n, name) == nil {
		return stubs
	}
	for key, item := range n.entries() {
		if _, known := c.commands.Find(key.text); !known {
			c.noCommand(key, key.text)
			continue
		}
		failure := item.get("error")
		if failure == nil || len(item.keys) != 1 || failure.kind != object {
			stubs[key.text] = Stub{Output: item.value()}
			continue
		}
		e := sluice.CodeStubbed.Errorf("The stub of %s failed.", key.text)
		c.failure(failure, e)
		if e.Code == "" {
			c.problemf(failure, "code must not be empty.")
		}
		stubs[key.text] = Stub{Error: e}
	}
	return stubs
}

func (c *checker) expectation(n *node, name string) Expectation {
	var e Expectation
	c.options(n, name, map[string]reader{
		"body": func(n *node, _ string) { e.Body = new(n.value()) },
		"vars": into(&e.Vars, c.objectOf),
		"passed": func(n *node, name string) {
			if e.Passed, _ = n.data.(bool); !e.Passed {
				c.problemf(n, "%s must be true; leave it out if the event is to start the pipeline.", name)
			}
		},
		"error": func(n *node, name string) {
			e.Error = c.objectOf(n, name)
			c.failure(n, &sluice.Error{})
		},
		"calls": into(&e.Calls, c.wantedCalls),
	})
	return e
}

// failure reads what a test says of an error.
func (c *checker) failure(n *node, e *sluice.Error) {
	c.options(n, "error", map[string]reader{
		"code": c.text(&e.Code), "statusCode": c.integer(&e.Status, 400, 599), "message": c.text(&e.Message),
	})
}

func (c *checker) wantedCalls(n *node, _ string) []Call {
	calls := []Call{}
	if n.kind != list {
		c.problemf(n, "calls must be a list, not %s.", n.describe())
		return calls
	}
	for _, item := range n.items {
		name, params, ok := c.split(item)
		if !ok {
			c.problemf(item, "A call is the name of a command, or one name: {parameters}.")
			continue
		}
		call := Call{Command: name}
		if params != nil {
			call.Params = c.objectOf(params, name)
		}
		if _, known := c.commands.Find(name); !known {
			c.noCommand(item, name)
		}
		calls = append(calls, call)
	}
	return calls
}
