package expression

// kind is the type of value that a built-in function needs as an argument.
type kind int

const (
	anyKind kind = iota
	textKind
	listKind
	objectKind
	integerKind // a number without a fraction, handed over as an int
	numberKind  // an int or a float64
)

var kindNames = map[kind]string{
	textKind: "text", listKind: "a list", objectKind: "an object",
	integerKind: "a whole number", numberKind: "a number",
}

var (
	oneAny      = []kind{anyKind}
	oneText     = []kind{textKind}
	twoTexts    = []kind{textKind, textKind}
	threeTexts  = []kind{textKind, textKind, textKind}
	oneList     = []kind{listKind}
	oneObject   = []kind{objectKind}
	oneNumber   = []kind{numberKind}
	twoIntegers = []kind{integerKind, integerKind}
)

// function is a built-in function. Its arguments are checked before it runs.
type function struct {
	usage  string
	kinds  []kind // of its arguments
	needed int    // how many arguments are required; 0: all
	many   bool   // the last argument may be repeated
	run    operation
}

// fits reports whether a value is of a kind, and converts it to that kind.
func fits(needs kind, v any) (any, bool) {
	ok := true
	switch needs {
	case textKind:
		_, ok = v.(string)
	case listKind:
		_, ok = v.([]any)
	case objectKind:
		_, ok = v.(map[string]any)
	case integerKind:
		return whole(v)
	case numberKind:
		_, ok = float(v)
	}
	return v, ok
}

// optional returns an argument that may be left out.
func optional[T any](args []any, i int, otherwise T) T {
	if i < len(args) {
		return args[i].(T)
	}
	return otherwise
}
