package expression

// eval runs one part of an expression.
type eval func(f *frame) any

// operation computes a value from others. It must not keep the slice.
type operation func(f *frame, args []any) any

// operate is the implementation of an operator. It is not ok if the operator does not
// support the types of its operands.
type operate func(f *frame, a, b any) (v any, ok bool)

// strict is an operation on operands that are all evaluated first, in their order.
func strict(run operation, operands ...eval) eval {
	return func(f *frame) any {
		base := len(f.stack)
		for _, operand := range operands {
			v := operand(f)
			f.stack = append(f.stack, v)
		}
		v := run(f, f.stack[base:])
		f.stack = f.stack[:base]
		return v
	}
}

func constant(v any) eval { return func(*frame) any { return v } }
