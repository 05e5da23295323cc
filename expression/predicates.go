package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"sluice/value"
)

// loop is a running built-in function with a predicate.
type loop struct {
	*frame
	items []any
	body  eval   // nil: the item itself
	cost  int    // steps for each item
	extra []any  // the third argument, such as the start of reduce, if there is one
	name  string // of the function
}

// predicates has the built-in functions with a predicate.
var predicates = map[string]struct {
	usage string
	run   func(l *loop) any
}{
	"all": {
		"all(list, predicate): whether it holds for every item",
		func(l *loop) any { return l.first(false) < 0 },
	},
	"none": {
		"none(list, predicate): whether it holds for no item",
		func(l *loop) any { return l.first(true) < 0 },
	},
	"any": {
		"any(list, predicate): whether it holds for an item",
		func(l *loop) any { return l.first(true) >= 0 },
	},
	"one": {
		"one(list, predicate): whether it holds for exactly one item",
		func(l *loop) any { return howMany(l) == 1 },
	},
	"filter": {"filter(list, predicate): the items for which it holds", filtered},
	"map":    {"map(list, expression): its value for each item", mapped},
	"find": {
		"find(list, predicate): the first item for which it holds, or nil",
		func(l *loop) any { return l.itemOrNil(l.first(true)) },
	},
	"findIndex": {
		"findIndex(list, predicate): the place of that item, or nil",
		func(l *loop) any { return indexOrNil(l.first(true)) },
	},
	"findLast": {
		"findLast(list, predicate): the last item for which it holds, or nil",
		func(l *loop) any { return l.itemOrNil(l.last()) },
	},
	"findLastIndex": {
		"findLastIndex(list, predicate): the place of that item, or nil",
		func(l *loop) any { return indexOrNil(l.last()) },
	},
	"count": {"count(list[, predicate]): for how many items it holds", howMany},
	"sum":   {"sum(list[, expression]): the sum of its values", sumUp},
	"groupBy": {
		"groupBy(list, expression): an object with a list of the items for each value, as text",
		groupBy,
	},
	"sortBy": {
		"sortBy(list, expression[, \"asc\" or \"desc\"]): the items in the order of its values",
		sortBy,
	},
	"reduce": {"reduce(list, expression[, start]): its last value; #acc is the one before", reduce},
}

// valueFor runs the predicate for one item.
func (l *loop) valueFor(i int) any {
	l.spend(l.cost)
	l.item, l.index = l.items[i], i
	if l.body == nil {
		return l.item
	}
	return l.body(l.frame)
}

// holdsFor runs the predicate for one item; it must be true or false.
func (l *loop) holdsFor(i int) bool {
	v := l.valueFor(i)
	yes, ok := v.(bool)
	if !ok {
		fail("%s needs true or false for each item, not %s", l.name, describe(v))
	}
	return yes
}

// first returns the index of the first item for which the predicate is so, or -1.
func (l *loop) first(so bool) int {
	for i := range l.items {
		if l.holdsFor(i) == so {
			return i
		}
	}
	return -1
}

// last returns the index of the last item for which the predicate holds, or -1.
func (l *loop) last() int {
	for i := range slices.Backward(l.items) {
		if l.holdsFor(i) {
			return i
		}
	}
	return -1
}

func (l *loop) itemOrNil(i int) any {
	if i < 0 {
		return nil
	}
	return l.items[i]
}

func indexOrNil(i int) any {
	if i < 0 {
		return nil
	}
	return i
}

func howMany(l *loop) any {
	n := 0
	for i := range l.items {
		if l.holdsFor(i) {
			n++
		}
	}
	return n
}

func filtered(l *loop) any {
	list := []any{}
	for i, item := range l.items {
		if !l.holdsFor(i) {
			continue
		}
		if list = append(list, item); len(list) > value.MaxItems {
			break
		}
	}
	l.makeItems(len(list))
	return list
}

func mapped(l *loop) any {
	l.makeItems(len(l.items))
	list := make([]any, len(l.items))
	for i := range l.items {
		list[i] = l.valueFor(i)
	}
	return list
}

func sumUp(l *loop) any {
	var total any = 0
	for i := range l.items {
		v := l.valueFor(i)
		if _, ok := float(v); !ok {
			fail("sum needs numbers, not %s", describe(v))
		}
		total, _ = add(l.frame, total, v)
	}
	return total
}

func groupBy(l *loop) any {
	l.makeObject(len(l.items))
	groups := map[string]any{}
	for i, item := range l.items {
		key := l.asText(l.valueFor(i))
		l.read(len(key))
		group, _ := groups[key].([]any)
		groups[key] = append(group, item)
	}
	return groups
}

func sortBy(l *loop) any {
	l.makeItems(len(l.items))
	type pair struct{ item, key any }
	pairs := make([]pair, len(l.items))
	for i, item := range l.items {
		pairs[i] = pair{item, l.valueFor(i)}
	}
	order := any("asc")
	if len(l.extra) > 0 {
		order = l.extra[0]
	}
	compare := l.ordering(order)
	slices.SortStableFunc(pairs, func(a, b pair) int { return compare(a.key, b.key) })
	l.makeItems(len(pairs))
	list := make([]any, len(pairs))
	for i := range pairs {
		list[i] = pairs[i].item
	}
	return list
}

func reduce(l *loop) any {
	acc, start := any(nil), 0
	switch {
	case len(l.extra) > 0:
		acc = l.extra[0]
	case len(l.items) > 0:
		acc, start = l.items[0], 1
	default:
		fail("reduce needs a start value for an empty list")
	}
	for i := start; i < len(l.items); i++ {
		l.acc = acc
		acc = l.valueFor(i)
	}
	return acc
}

func (c *compiler) predicate(node *ast.BuiltinNode) eval {
	function := predicates[node.Name]
	operands := []eval{c.compile(node.Arguments[0])}
	start := c.nodes
	var body eval
	if len(node.Arguments) > 1 {
		predicate, ok := node.Arguments[1].(*ast.PredicateNode)
		if !ok {
			return c.mistake(node, "Use %s.", function.usage)
		}
		c.predicates = append(c.predicates, node.Name)
		body = c.compile(predicate.Node)
		c.predicates = c.predicates[:len(c.predicates)-1]
	}
	cost := 1 + c.nodes - start
	if len(node.Arguments) > 2 {
		operands = append(operands, c.compile(node.Arguments[2]))
	}
	return strict(func(f *frame, args []any) any {
		items, ok := args[0].([]any)
		if !ok {
			fail("%s needs a list; %s is %s", node.Name, label(node.Arguments[0]), describe(args[0]))
		}
		outer := f.cursor
		v := function.run(&loop{f, items, body, cost, args[1:], node.Name})
		f.cursor = outer
		return v
	}, operands...)
}
