package pipeline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/pipeline/source"
	"sluice/value"
)

// stepTraps warns of steps that do something else than they seem to say.
func stepTraps(p *source.Program) (found []sluice.Finding) {
	for s := range p.All() {
		call, ok := s.Action.(*source.Invocation)
		if !ok {
			continue
		}
		for _, err := range []error{refused(call), braces(call), forwardsOnce(p, s, call)} {
			if err != nil {
				found = append(found, finding(s, sluice.AsError(err)))
			}
		}
	}
	return found
}

// refused is how the command would refuse what is known of its arguments.
func refused(call *source.Invocation) error {
	if call.Command.Check == nil {
		return nil
	}
	return call.Command.Check(call.Known())
}

// inBraces is an expression as other languages write it.
var inBraces = regexp.MustCompile(`\{\{\s*(body|vars|headers|request|user)\b[^}"]*\}\}`)

func braces(call *source.Invocation) error {
	known, _ := value.Marshal(call.Known())
	text := inBraces.FindString(string(known))
	if text == "" {
		return nil
	}
	return sluice.CodeBracesAreText.Errorf("%s is text; an expression is written #{%s}.", text,
		strings.TrimSpace(strings.Trim(text, "{}")))
}

// forwardsOnce is about a step that ends the run of an event at the first refusal.
func forwardsOnce(p *source.Program, s *source.Step, call *source.Invocation) error {
	if call.Command.Name != "http.forward" || p.Trigger == nil || p.Retry.Given || s.OnError != (source.Policy{}) {
		return nil
	}
	return sluice.CodeRetryMissing.Errorf("If the target refuses a call, it becomes a dead letter at once. To " +
		"try again for hours, add a section beside pipeline: retry: {times: 20, maxBackoff: 10m}; " +
		"retry: {times: 0} says that this is meant.")
}

// fromXML returns for each step the names of what was read from XML without lists before it.
func fromXML(p *source.Program) map[*source.Step][]string {
	seen, names := map[*source.Step][]string{}, map[string]bool{}
	for s := range p.All() {
		seen[s] = slices.Collect(maps.Keys(names))
		if call, ok := s.Action.(*source.Invocation); ok {
			delete(names, call.Writes())
			if call.Command.Name == "convert.fromXml" && !slices.ContainsFunc(call.Args, isLists) {
				names[call.Writes()] = true
			}
		}
	}
	return seen
}

func isLists(a source.Argument) bool { return a.Name == "lists" }

// lengthOfText is about the length of an element that may occur once; nil if no name is one.
func lengthOfText(lengths, fromXML []string) error {
	for _, name := range lengths {
		for _, owner := range fromXML {
			if path, ok := strings.CutPrefix(name, owner+"."); ok {
				return sluice.CodeLengthOfText.Errorf("If the element occurs once, %s is its text, and len "+
					"counts characters. To have a list always, give convert.fromXml lists: [%s].", name, path)
			}
		}
	}
	return nil
}
