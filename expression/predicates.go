package expression

import (
	"github.com/expr-lang/expr/ast"

	"sluice/value"
)

// loop is a running built-in function with a predicate.
type loop struct {
	*frame
	items     []any
	body      eval // nil: the item itself
	cost      int  // steps for each item
	extra     any  // the third argument, such as the start of reduce
	hasExtra  bool // there is a third argument
	predicate string
}

// predicates has the built-in functions with a predicate.
var predicates = map[string]struct {
	usage string
	run   func(l *loop) (any, error)
}{
	"all":           {"all(list, predicate): whether it holds for every item", all},
	"none":          {"none(list, predicate): whether it holds for no item", none},
	"any":           {"any(list, predicate): whether it holds for an item", some},
	"one":           {"one(list, predicate): whether it holds for exactly one item", one},
	"filter":        {"filter(list, predicate): the items for which it holds", filter},
	"map":           {"map(list, expression): its value for each item", mapped},
	"find":          {"find(list, predicate): the first item for which it holds, or nil", find},
	"findIndex":     {"findIndex(list, predicate): the place of that item, or nil", findIndex},
	"findLast":      {"findLast(list, predicate): the last item for which it holds, or nil", findLast},
	"findLastIndex": {"findLastIndex(list, predicate): the place of that item, or nil", findLastIndex},
	"count":         {"count(list[, predicate]): for how many items it holds", count},
	"sum":           {"sum(list[, expression]): the sum of its values", sum},
	"groupBy":       {"groupBy(list, expression): an object with a list of the items for each value, as text", groupBy},
	"sortBy":        {"sortBy(list, expression[, \"asc\" or \"desc\"]): the items in the order of its values", sortBy},
	"reduce":        {"reduce(list, expression[, start]): its last value; #acc is the one before", reduce},
}

func (c *compiler) predicate(node *ast.BuiltinNode) (eval, error) {
	run := predicates[node.Name].run
	list, err := c.compile(node.Arguments[0])
	if err != nil {
		return nil, err
	}
	start := c.nodes
	var body, extra eval
	if len(node.Arguments) > 1 {
		predicate, ok := node.Arguments[1].(*ast.PredicateNode)
		if !ok {
			return nil, c.errorAt(node, "Use %s.", predicates[node.Name].usage)
		}
		c.predicates = append(c.predicates, node.Name)
		body, err = c.compile(predicate.Node)
		c.predicates = c.predicates[:len(c.predicates)-1]
		if err != nil {
			return nil, err
		}
	}
	cost := 1 + c.nodes - start
	if len(node.Arguments) > 2 {
		if extra, err = c.compile(node.Arguments[2]); err != nil {
			return nil, err
		}
	}
	return func(f *frame) (any, error) {
		v, err := list(f)
		if err != nil {
			return nil, err
		}
		items, ok := v.([]any)
		if !ok {
			return nil, fail("%s needs a list; %s is %s", node.Name, label(node.Arguments[0]), describe(v))
		}
		l := &loop{frame: f, items: items, body: body, cost: cost, predicate: node.Name}
		if extra != nil {
			l.hasExtra = true
			if l.extra, err = extra(f); err != nil {
				return nil, err
			}
		}
		outer := f.cursor
		v, err = run(l)
		f.cursor = outer
		return v, err
	}, nil
}

// value runs the predicate for one item.
func (l *loop) value(i int) (any, error) {
	if err := l.spend(l.cost); err != nil {
		return nil, err
	}
	l.item, l.index = l.items[i], i
	if l.body == nil {
		return l.item, nil
	}
	return l.body(l.frame)
}

// test runs the predicate for one item; it must be true or false.
func (l *loop) test(i int) (bool, error) {
	v, err := l.value(i)
	if err != nil {
		return false, err
	}
	yes, ok := v.(bool)
	if !ok {
		return false, fail("%s needs true or false for each item, not %s", l.predicate, describe(v))
	}
	return yes, nil
}

// until returns the index of the first item, or backward the last, for which the predicate
// is so, or -1.
func (l *loop) until(so, backward bool) (int, error) {
	for i := range l.items {
		if backward {
			i = len(l.items) - 1 - i
		}
		if yes, err := l.test(i); yes == so || err != nil {
			return i, err
		}
	}
	return -1, nil
}

func all(l *loop) (any, error) {
	at, err := l.until(false, false)
	return at < 0, err
}

func none(l *loop) (any, error) {
	at, err := l.until(true, false)
	return at < 0, err
}

func some(l *loop) (any, error) {
	at, err := l.until(true, false)
	return at >= 0, err
}

func one(l *loop) (any, error) {
	n, err := count(l)
	return n == 1, err
}

func find(l *loop) (any, error)          { return l.found(false, l.itemAt) }
func findIndex(l *loop) (any, error)     { return l.found(false, indexAt) }
func findLast(l *loop) (any, error)      { return l.found(true, l.itemAt) }
func findLastIndex(l *loop) (any, error) { return l.found(true, indexAt) }

func (l *loop) itemAt(i int) (any, error) { return l.items[i], nil }
func indexAt(i int) (any, error)          { return i, nil }

func (l *loop) found(backward bool, give func(i int) (any, error)) (any, error) {
	at, err := l.until(true, backward)
	if at < 0 || err != nil {
		return nil, err
	}
	return give(at)
}

func count(l *loop) (any, error) {
	n := 0
	for i := range l.items {
		yes, err := l.test(i)
		if err != nil {
			return nil, err
		}
		if yes {
			n++
		}
	}
	return n, nil
}

func filter(l *loop) (any, error) {
	list := []any{}
	for i, item := range l.items {
		yes, err := l.test(i)
		if err != nil {
			return nil, err
		}
		if yes && len(list) == value.MaxItems {
			return nil, l.makeItems(value.MaxItems + 1)
		}
		if yes {
			list = append(list, item)
		}
	}
	return list, l.makeItems(len(list))
}

func mapped(l *loop) (any, error) {
	if err := l.makeItems(len(l.items)); err != nil {
		return nil, err
	}
	list := make([]any, len(l.items))
	for i := range l.items {
		var err error
		if list[i], err = l.value(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func sum(l *loop) (any, error) {
	var total any = 0
	for i := range l.items {
		v, err := l.value(i)
		if err != nil {
			return nil, err
		}
		if _, ok := float(v); !ok {
			return nil, fail("sum needs numbers, not %s", describe(v))
		}
		if total, err = add(l.frame, total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func groupBy(l *loop) (any, error) {
	groups := make(map[string]any)
	if err := l.makeObject(len(l.items)); err != nil {
		return nil, err
	}
	for i, item := range l.items {
		v, err := l.value(i)
		if err != nil {
			return nil, err
		}
		key, err := l.text(v)
		if err != nil {
			return nil, err
		}
		if err := l.read(len(key)); err != nil {
			return nil, err
		}
		group, _ := groups[key].([]any)
		groups[key] = append(group, item)
	}
	return groups, nil
}

func reduce(l *loop) (any, error) {
	start := 0
	acc := l.extra
	if !l.hasExtra {
		if len(l.items) == 0 {
			return nil, fail("reduce needs a start value for an empty list")
		}
		acc, start = l.items[0], 1
	}
	for i := start; i < len(l.items); i++ {
		l.acc = acc
		var err error
		if acc, err = l.value(i); err != nil {
			return nil, err
		}
	}
	return acc, nil
}
