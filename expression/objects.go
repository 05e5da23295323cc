package expression

// objectFunctions has the functions that work on objects.
var objectFunctions = []declaration{
	{
		"keys(object): the names of its members, in order",
		"object", listMembers(func(key string, _ any) any { return key }),
	},
	{
		"values(object): the values of its members, in the order of their names",
		"object", listMembers(func(_ string, value any) any { return value }),
	},
	{
		"toPairs(object): a list of [name, value], in the order of the names",
		"object", listMembers(func(key string, value any) any { return []any{key, value} }),
	},
	{"fromPairs(list): the object that has these [name, value]", "list", fromPairs},
}

// listMembers makes a list with something of each member, in the order of their names.
func listMembers(give func(key string, value any) any) operation {
	return func(f *frame, args []any) any {
		object := args[0].(map[string]any)
		f.makeItems(len(object))
		const bytesPerMember = 64
		f.allocate(bytesPerMember * len(object))
		list := make([]any, len(object))
		for i, key := range f.sortedKeys(object) {
			list[i] = give(key, object[key])
		}
		return list
	}
}

func fromPairs(f *frame, args []any) any {
	items := args[0].([]any)
	f.makeObject(len(items))
	object := make(map[string]any, len(items))
	for _, item := range items {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			fail("fromPairs needs lists of two items, [name, value]")
		}
		key, ok := pair[0].(string)
		if !ok {
			fail("fromPairs needs texts as names, not %s", describe(pair[0]))
		}
		f.read(len(key))
		object[key] = pair[1]
	}
	return object
}
