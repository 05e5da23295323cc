package expression

// objectFunctions has the functions that work on objects.
var objectFunctions = map[string]function{
	"get": {usage: "get(value, key): the member or item, or nil", kinds: []kind{anyKind, anyKind}, run: get},
	"keys": {
		usage: "keys(object): the names of its members, in order",
		kinds: oneObject, run: members(func(key string, _ any) any { return key }),
	},
	"values": {
		usage: "values(object): the values of its members, in the order of their names",
		kinds: oneObject, run: members(func(_ string, value any) any { return value }),
	},
	"toPairs": {
		usage: "toPairs(object): a list of [name, value], in the order of the names",
		kinds: oneObject, run: members(func(key string, value any) any { return []any{key, value} }),
	},
	"fromPairs": {
		usage: "fromPairs(list): the object that has these [name, value]",
		kinds: oneList, run: fromPairs,
	},
}

func get(f *frame, args []any) any {
	switch owner := args[0].(type) {
	case map[string]any:
		if key, ok := args[1].(string); ok {
			return owner[key]
		}
	case []any:
		if i, ok := whole(args[1]); ok {
			return itemAt(i)(f, args)
		}
	}
	return nil
}

func members(give func(key string, value any) any) operation {
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
